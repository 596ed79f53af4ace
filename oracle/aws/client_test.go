// Package aws_test compares package awsapi with the AWS SDK, which has a generated Go module for each
// service. Only the Go module of these tests requires them, so that neither the binary nor its module
// graph has them.
package aws_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/accessanalyzer"
	"github.com/aws/aws-sdk-go-v2/service/account"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acmpca"
	"github.com/aws/aws-sdk-go-v2/service/amp"
	"github.com/aws/aws-sdk-go-v2/service/amplify"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/applicationautoscaling"
	"github.com/aws/aws-sdk-go-v2/service/apprunner"
	"github.com/aws/aws-sdk-go-v2/service/appstream"
	"github.com/aws/aws-sdk-go-v2/service/appsync"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/backup"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/bedrock"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagent"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudhsmv2"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/codeartifact"
	"github.com/aws/aws-sdk-go-v2/service/codebuild"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/codepipeline"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentity"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/configservice"
	"github.com/aws/aws-sdk-go-v2/service/connect"
	"github.com/aws/aws-sdk-go-v2/service/databasemigrationservice"
	"github.com/aws/aws-sdk-go-v2/service/datasync"
	"github.com/aws/aws-sdk-go-v2/service/dax"
	"github.com/aws/aws-sdk-go-v2/service/directconnect"
	"github.com/aws/aws-sdk-go-v2/service/directoryservice"
	"github.com/aws/aws-sdk-go-v2/service/dlm"
	"github.com/aws/aws-sdk-go-v2/service/docdb"
	"github.com/aws/aws-sdk-go-v2/service/docdbelastic"
	"github.com/aws/aws-sdk-go-v2/service/dsql"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/efs"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/elasticbeanstalk"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emrserverless"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/firehose"
	"github.com/aws/aws-sdk-go-v2/service/fsx"
	"github.com/aws/aws-sdk-go-v2/service/glacier"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/grafana"
	"github.com/aws/aws-sdk-go-v2/service/guardduty"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/inspector2"
	"github.com/aws/aws-sdk-go-v2/service/kafka"
	"github.com/aws/aws-sdk-go-v2/service/kafkaconnect"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesisvideo"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lightsail"
	"github.com/aws/aws-sdk-go-v2/service/macie2"
	"github.com/aws/aws-sdk-go-v2/service/memorydb"
	"github.com/aws/aws-sdk-go-v2/service/mq"
	"github.com/aws/aws-sdk-go-v2/service/mwaa"
	"github.com/aws/aws-sdk-go-v2/service/neptune"
	"github.com/aws/aws-sdk-go-v2/service/neptunegraph"
	"github.com/aws/aws-sdk-go-v2/service/networkfirewall"
	"github.com/aws/aws-sdk-go-v2/service/opensearch"
	"github.com/aws/aws-sdk-go-v2/service/opensearchserverless"
	"github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/pipes"
	"github.com/aws/aws-sdk-go-v2/service/ram"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/redshift"
	"github.com/aws/aws-sdk-go-v2/service/redshiftserverless"
	"github.com/aws/aws-sdk-go-v2/service/rolesanywhere"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53domains"
	"github.com/aws/aws-sdk-go-v2/service/route53resolver"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3control"
	"github.com/aws/aws-sdk-go-v2/service/s3tables"
	"github.com/aws/aws-sdk-go-v2/service/sagemaker"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/securityhub"
	"github.com/aws/aws-sdk-go-v2/service/servicecatalog"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/shield"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssoadmin"
	"github.com/aws/aws-sdk-go-v2/service/storagegateway"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/synthetics"
	"github.com/aws/aws-sdk-go-v2/service/timestreaminfluxdb"
	"github.com/aws/aws-sdk-go-v2/service/transfer"
	"github.com/aws/aws-sdk-go-v2/service/vpclattice"
	"github.com/aws/aws-sdk-go-v2/service/wafv2"
	"github.com/aws/aws-sdk-go-v2/service/wellarchitected"
	"github.com/aws/aws-sdk-go-v2/service/workspaces"
)

// clients creates a client of the SDK module of each service.
var clients = map[string]func(aws.Config) any{
	"accessanalyzer":          func(c aws.Config) any { return accessanalyzer.NewFromConfig(c) },
	"account":                 func(c aws.Config) any { return account.NewFromConfig(c) },
	"acm":                     func(c aws.Config) any { return acm.NewFromConfig(c) },
	"acm-pca":                 func(c aws.Config) any { return acmpca.NewFromConfig(c) },
	"amp":                     func(c aws.Config) any { return amp.NewFromConfig(c) },
	"amplify":                 func(c aws.Config) any { return amplify.NewFromConfig(c) },
	"apigateway":              func(c aws.Config) any { return apigateway.NewFromConfig(c) },
	"apigatewayv2":            func(c aws.Config) any { return apigatewayv2.NewFromConfig(c) },
	"application-autoscaling": func(c aws.Config) any { return applicationautoscaling.NewFromConfig(c) },
	"apprunner":               func(c aws.Config) any { return apprunner.NewFromConfig(c) },
	"appstream":               func(c aws.Config) any { return appstream.NewFromConfig(c) },
	"appsync":                 func(c aws.Config) any { return appsync.NewFromConfig(c) },
	"athena":                  func(c aws.Config) any { return athena.NewFromConfig(c) },
	"autoscaling":             func(c aws.Config) any { return autoscaling.NewFromConfig(c) },
	"backup":                  func(c aws.Config) any { return backup.NewFromConfig(c) },
	"batch":                   func(c aws.Config) any { return batch.NewFromConfig(c) },
	"bedrock":                 func(c aws.Config) any { return bedrock.NewFromConfig(c) },
	"bedrock-agent":           func(c aws.Config) any { return bedrockagent.NewFromConfig(c) },
	"cloudformation":          func(c aws.Config) any { return cloudformation.NewFromConfig(c) },
	"cloudfront":              func(c aws.Config) any { return cloudfront.NewFromConfig(c) },
	"cloudhsmv2":              func(c aws.Config) any { return cloudhsmv2.NewFromConfig(c) },
	"cloudtrail":              func(c aws.Config) any { return cloudtrail.NewFromConfig(c) },
	"cloudwatch":              func(c aws.Config) any { return cloudwatch.NewFromConfig(c) },
	"codeartifact":            func(c aws.Config) any { return codeartifact.NewFromConfig(c) },
	"codebuild":               func(c aws.Config) any { return codebuild.NewFromConfig(c) },
	"codecommit":              func(c aws.Config) any { return codecommit.NewFromConfig(c) },
	"codepipeline":            func(c aws.Config) any { return codepipeline.NewFromConfig(c) },
	"cognito-identity":        func(c aws.Config) any { return cognitoidentity.NewFromConfig(c) },
	"cognito-idp":             func(c aws.Config) any { return cognitoidentityprovider.NewFromConfig(c) },
	"config":                  func(c aws.Config) any { return configservice.NewFromConfig(c) },
	"connect":                 func(c aws.Config) any { return connect.NewFromConfig(c) },
	"datasync":                func(c aws.Config) any { return datasync.NewFromConfig(c) },
	"dax":                     func(c aws.Config) any { return dax.NewFromConfig(c) },
	"directconnect":           func(c aws.Config) any { return directconnect.NewFromConfig(c) },
	"dlm":                     func(c aws.Config) any { return dlm.NewFromConfig(c) },
	"dms":                     func(c aws.Config) any { return databasemigrationservice.NewFromConfig(c) },
	"docdb":                   func(c aws.Config) any { return docdb.NewFromConfig(c) },
	"docdb-elastic":           func(c aws.Config) any { return docdbelastic.NewFromConfig(c) },
	"ds":                      func(c aws.Config) any { return directoryservice.NewFromConfig(c) },
	"dsql":                    func(c aws.Config) any { return dsql.NewFromConfig(c) },
	"dynamodb":                func(c aws.Config) any { return dynamodb.NewFromConfig(c) },
	"ec2":                     func(c aws.Config) any { return ec2.NewFromConfig(c) },
	"ecr":                     func(c aws.Config) any { return ecr.NewFromConfig(c) },
	"ecs":                     func(c aws.Config) any { return ecs.NewFromConfig(c) },
	"efs":                     func(c aws.Config) any { return efs.NewFromConfig(c) },
	"eks":                     func(c aws.Config) any { return eks.NewFromConfig(c) },
	"elasticache":             func(c aws.Config) any { return elasticache.NewFromConfig(c) },
	"elasticbeanstalk":        func(c aws.Config) any { return elasticbeanstalk.NewFromConfig(c) },
	"elb":                     func(c aws.Config) any { return elasticloadbalancing.NewFromConfig(c) },
	"elbv2":                   func(c aws.Config) any { return elasticloadbalancingv2.NewFromConfig(c) },
	"emr":                     func(c aws.Config) any { return emr.NewFromConfig(c) },
	"emr-serverless":          func(c aws.Config) any { return emrserverless.NewFromConfig(c) },
	"events":                  func(c aws.Config) any { return eventbridge.NewFromConfig(c) },
	"firehose":                func(c aws.Config) any { return firehose.NewFromConfig(c) },
	"fsx":                     func(c aws.Config) any { return fsx.NewFromConfig(c) },
	"glacier":                 func(c aws.Config) any { return glacier.NewFromConfig(c) },
	"glue":                    func(c aws.Config) any { return glue.NewFromConfig(c) },
	"grafana":                 func(c aws.Config) any { return grafana.NewFromConfig(c) },
	"guardduty":               func(c aws.Config) any { return guardduty.NewFromConfig(c) },
	"iam":                     func(c aws.Config) any { return iam.NewFromConfig(c) },
	"inspector2":              func(c aws.Config) any { return inspector2.NewFromConfig(c) },
	"kafka":                   func(c aws.Config) any { return kafka.NewFromConfig(c) },
	"kafkaconnect":            func(c aws.Config) any { return kafkaconnect.NewFromConfig(c) },
	"kinesis":                 func(c aws.Config) any { return kinesis.NewFromConfig(c) },
	"kinesisvideo":            func(c aws.Config) any { return kinesisvideo.NewFromConfig(c) },
	"kms":                     func(c aws.Config) any { return kms.NewFromConfig(c) },
	"lambda":                  func(c aws.Config) any { return lambda.NewFromConfig(c) },
	"lightsail":               func(c aws.Config) any { return lightsail.NewFromConfig(c) },
	"logs":                    func(c aws.Config) any { return cloudwatchlogs.NewFromConfig(c) },
	"macie2":                  func(c aws.Config) any { return macie2.NewFromConfig(c) },
	"memorydb":                func(c aws.Config) any { return memorydb.NewFromConfig(c) },
	"mq":                      func(c aws.Config) any { return mq.NewFromConfig(c) },
	"mwaa":                    func(c aws.Config) any { return mwaa.NewFromConfig(c) },
	"neptune":                 func(c aws.Config) any { return neptune.NewFromConfig(c) },
	"neptune-graph":           func(c aws.Config) any { return neptunegraph.NewFromConfig(c) },
	"network-firewall":        func(c aws.Config) any { return networkfirewall.NewFromConfig(c) },
	"opensearch":              func(c aws.Config) any { return opensearch.NewFromConfig(c) },
	"opensearchserverless":    func(c aws.Config) any { return opensearchserverless.NewFromConfig(c) },
	"organizations":           func(c aws.Config) any { return organizations.NewFromConfig(c) },
	"pipes":                   func(c aws.Config) any { return pipes.NewFromConfig(c) },
	"ram":                     func(c aws.Config) any { return ram.NewFromConfig(c) },
	"rds":                     func(c aws.Config) any { return rds.NewFromConfig(c) },
	"redshift":                func(c aws.Config) any { return redshift.NewFromConfig(c) },
	"redshift-serverless":     func(c aws.Config) any { return redshiftserverless.NewFromConfig(c) },
	"rolesanywhere":           func(c aws.Config) any { return rolesanywhere.NewFromConfig(c) },
	"route53":                 func(c aws.Config) any { return route53.NewFromConfig(c) },
	"route53domains":          func(c aws.Config) any { return route53domains.NewFromConfig(c) },
	"route53resolver":         func(c aws.Config) any { return route53resolver.NewFromConfig(c) },
	"s3":                      func(c aws.Config) any { return s3.NewFromConfig(c) },
	"s3control":               func(c aws.Config) any { return s3control.NewFromConfig(c) },
	"s3tables":                func(c aws.Config) any { return s3tables.NewFromConfig(c) },
	"sagemaker":               func(c aws.Config) any { return sagemaker.NewFromConfig(c) },
	"scheduler":               func(c aws.Config) any { return scheduler.NewFromConfig(c) },
	"secretsmanager":          func(c aws.Config) any { return secretsmanager.NewFromConfig(c) },
	"securityhub":             func(c aws.Config) any { return securityhub.NewFromConfig(c) },
	"servicecatalog":          func(c aws.Config) any { return servicecatalog.NewFromConfig(c) },
	"sesv2":                   func(c aws.Config) any { return sesv2.NewFromConfig(c) },
	"shield":                  func(c aws.Config) any { return shield.NewFromConfig(c) },
	"sns":                     func(c aws.Config) any { return sns.NewFromConfig(c) },
	"sqs":                     func(c aws.Config) any { return sqs.NewFromConfig(c) },
	"ssm":                     func(c aws.Config) any { return ssm.NewFromConfig(c) },
	"sso-admin":               func(c aws.Config) any { return ssoadmin.NewFromConfig(c) },
	"stepfunctions":           func(c aws.Config) any { return sfn.NewFromConfig(c) },
	"storagegateway":          func(c aws.Config) any { return storagegateway.NewFromConfig(c) },
	"sts":                     func(c aws.Config) any { return sts.NewFromConfig(c) },
	"synthetics":              func(c aws.Config) any { return synthetics.NewFromConfig(c) },
	"timestream-influxdb":     func(c aws.Config) any { return timestreaminfluxdb.NewFromConfig(c) },
	"transfer":                func(c aws.Config) any { return transfer.NewFromConfig(c) },
	"vpc-lattice":             func(c aws.Config) any { return vpclattice.NewFromConfig(c) },
	"wafv2":                   func(c aws.Config) any { return wafv2.NewFromConfig(c) },
	"wellarchitected":         func(c aws.Config) any { return wellarchitected.NewFromConfig(c) },
	"workspaces":              func(c aws.Config) any { return workspaces.NewFromConfig(c) },
}
