module vigil/oracle/aws

go 1.26.8

replace vigil => ../..

require (
	github.com/aws/aws-sdk-go-v2 v1.47.5
	github.com/aws/aws-sdk-go-v2/credentials v1.20.12
	github.com/aws/aws-sdk-go-v2/service/accessanalyzer v1.49.1
	github.com/aws/aws-sdk-go-v2/service/acm v1.51.0
	github.com/aws/aws-sdk-go-v2/service/apigateway v1.40.2
	github.com/aws/aws-sdk-go-v2/service/apigatewayv2 v1.35.2
	github.com/aws/aws-sdk-go-v2/service/autoscaling v1.79.2
	github.com/aws/aws-sdk-go-v2/service/cloudfront v1.73.0
	github.com/aws/aws-sdk-go-v2/service/cloudtrail v1.56.0
	github.com/aws/aws-sdk-go-v2/service/cloudwatch v1.75.3
	github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs v1.90.3
	github.com/aws/aws-sdk-go-v2/service/configservice v1.74.7
	github.com/aws/aws-sdk-go-v2/service/dynamodb v1.72.2
	github.com/aws/aws-sdk-go-v2/service/ec2 v1.343.0
	github.com/aws/aws-sdk-go-v2/service/ecr v1.67.1
	github.com/aws/aws-sdk-go-v2/service/ecs v1.103.0
	github.com/aws/aws-sdk-go-v2/service/efs v1.41.18
	github.com/aws/aws-sdk-go-v2/service/eks v1.105.1
	github.com/aws/aws-sdk-go-v2/service/elasticache v1.64.2
	github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2 v1.63.6
	github.com/aws/aws-sdk-go-v2/service/eventbridge v1.55.6
	github.com/aws/aws-sdk-go-v2/service/guardduty v1.78.2
	github.com/aws/aws-sdk-go-v2/service/iam v1.64.6
	github.com/aws/aws-sdk-go-v2/service/kms v1.62.2
	github.com/aws/aws-sdk-go-v2/service/lambda v1.113.4
	github.com/aws/aws-sdk-go-v2/service/opensearch v1.70.2
	github.com/aws/aws-sdk-go-v2/service/organizations v1.62.3
	github.com/aws/aws-sdk-go-v2/service/rds v1.131.2
	github.com/aws/aws-sdk-go-v2/service/redshift v1.62.10
	github.com/aws/aws-sdk-go-v2/service/route53 v1.70.6
	github.com/aws/aws-sdk-go-v2/service/s3 v1.114.6
	github.com/aws/aws-sdk-go-v2/service/s3control v1.71.1
	github.com/aws/aws-sdk-go-v2/service/secretsmanager v1.50.7
	github.com/aws/aws-sdk-go-v2/service/securityhub v1.71.2
	github.com/aws/aws-sdk-go-v2/service/sns v1.47.7
	github.com/aws/aws-sdk-go-v2/service/sqs v1.52.7
	github.com/aws/aws-sdk-go-v2/service/ssm v1.81.2
	github.com/aws/aws-sdk-go-v2/service/sts v1.51.6
	github.com/aws/aws-sdk-go-v2/service/wafv2 v1.72.0
	github.com/aws/smithy-go v1.28.7
	vigil v0.0.0
)

require (
	github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.25 // indirect
	github.com/aws/aws-sdk-go-v2/config v1.33.12 // indirect
	github.com/aws/aws-sdk-go-v2/feature/ec2/imds v1.20.5 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.8 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.8 // indirect
	github.com/aws/aws-sdk-go-v2/internal/v4a v1.5.8 // indirect
	github.com/aws/aws-sdk-go-v2/service/account v1.32.0
	github.com/aws/aws-sdk-go-v2/service/acmpca v1.56.7
	github.com/aws/aws-sdk-go-v2/service/amp v1.55.0
	github.com/aws/aws-sdk-go-v2/service/amplify v1.39.0
	github.com/aws/aws-sdk-go-v2/service/applicationautoscaling v1.41.18
	github.com/aws/aws-sdk-go-v2/service/apprunner v1.40.2
	github.com/aws/aws-sdk-go-v2/service/appstream v1.60.1
	github.com/aws/aws-sdk-go-v2/service/appsync v1.54.0
	github.com/aws/aws-sdk-go-v2/service/athena v1.66.8
	github.com/aws/aws-sdk-go-v2/service/backup v1.69.5
	github.com/aws/aws-sdk-go-v2/service/batch v1.65.2
	github.com/aws/aws-sdk-go-v2/service/bedrock v1.63.0
	github.com/aws/aws-sdk-go-v2/service/bedrockagent v1.54.2
	github.com/aws/aws-sdk-go-v2/service/cloudformation v1.82.3
	github.com/aws/aws-sdk-go-v2/service/cloudhsmv2 v1.35.0
	github.com/aws/aws-sdk-go-v2/service/codeartifact v1.39.2
	github.com/aws/aws-sdk-go-v2/service/codebuild v1.69.0
	github.com/aws/aws-sdk-go-v2/service/codecommit v1.44.3
	github.com/aws/aws-sdk-go-v2/service/codepipeline v1.47.0
	github.com/aws/aws-sdk-go-v2/service/cognitoidentity v1.34.0
	github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider v1.61.0
	github.com/aws/aws-sdk-go-v2/service/connect v1.175.2
	github.com/aws/aws-sdk-go-v2/service/databasemigrationservice v1.64.0
	github.com/aws/aws-sdk-go-v2/service/datasync v1.59.2
	github.com/aws/aws-sdk-go-v2/service/dax v1.29.20
	github.com/aws/aws-sdk-go-v2/service/directconnect v1.55.4
	github.com/aws/aws-sdk-go-v2/service/directoryservice v1.39.0
	github.com/aws/aws-sdk-go-v2/service/dlm v1.37.2
	github.com/aws/aws-sdk-go-v2/service/docdb v1.49.0
	github.com/aws/aws-sdk-go-v2/service/docdbelastic v1.21.2
	github.com/aws/aws-sdk-go-v2/service/dsql v1.14.2
	github.com/aws/aws-sdk-go-v2/service/elasticbeanstalk v1.35.0
	github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing v1.41.6
	github.com/aws/aws-sdk-go-v2/service/emr v1.70.7
	github.com/aws/aws-sdk-go-v2/service/emrserverless v1.41.2
	github.com/aws/aws-sdk-go-v2/service/firehose v1.52.8
	github.com/aws/aws-sdk-go-v2/service/fsx v1.74.8
	github.com/aws/aws-sdk-go-v2/service/glacier v1.33.0
	github.com/aws/aws-sdk-go-v2/service/glue v1.172.2
	github.com/aws/aws-sdk-go-v2/service/grafana v1.36.0
	github.com/aws/aws-sdk-go-v2/service/inspector2 v1.48.2
	github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding v1.13.23 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/checksum v1.11.9 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery v1.13.8 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/presigned-url v1.14.8 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/s3shared v1.20.8 // indirect
	github.com/aws/aws-sdk-go-v2/service/kafka v1.65.8
	github.com/aws/aws-sdk-go-v2/service/kafkaconnect v1.31.2
	github.com/aws/aws-sdk-go-v2/service/kinesis v1.56.9
	github.com/aws/aws-sdk-go-v2/service/kinesisvideo v1.34.0
	github.com/aws/aws-sdk-go-v2/service/lightsail v1.70.1
	github.com/aws/aws-sdk-go-v2/service/macie2 v1.51.4
	github.com/aws/aws-sdk-go-v2/service/memorydb v1.34.2
	github.com/aws/aws-sdk-go-v2/service/mq v1.34.24
	github.com/aws/aws-sdk-go-v2/service/mwaa v1.41.0
	github.com/aws/aws-sdk-go-v2/service/neptune v1.44.7
	github.com/aws/aws-sdk-go-v2/service/neptunegraph v1.22.1
	github.com/aws/aws-sdk-go-v2/service/networkfirewall v1.61.2
	github.com/aws/aws-sdk-go-v2/service/opensearchserverless v1.31.1
	github.com/aws/aws-sdk-go-v2/service/pipes v1.24.2
	github.com/aws/aws-sdk-go-v2/service/ram v1.45.8
	github.com/aws/aws-sdk-go-v2/service/redshiftserverless v1.35.2
	github.com/aws/aws-sdk-go-v2/service/rolesanywhere v1.32.1
	github.com/aws/aws-sdk-go-v2/service/route53domains v1.35.2
	github.com/aws/aws-sdk-go-v2/service/route53resolver v1.45.0
	github.com/aws/aws-sdk-go-v2/service/s3tables v1.16.2
	github.com/aws/aws-sdk-go-v2/service/sagemaker v1.286.0
	github.com/aws/aws-sdk-go-v2/service/scheduler v1.18.2
	github.com/aws/aws-sdk-go-v2/service/servicecatalog v1.39.17
	github.com/aws/aws-sdk-go-v2/service/sesv2 v1.79.5
	github.com/aws/aws-sdk-go-v2/service/sfn v1.41.2
	github.com/aws/aws-sdk-go-v2/service/shield v1.34.25
	github.com/aws/aws-sdk-go-v2/service/signin v1.12.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/sso v1.39.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/ssoadmin v1.52.2
	github.com/aws/aws-sdk-go-v2/service/ssooidc v1.44.0 // indirect
	github.com/aws/aws-sdk-go-v2/service/storagegateway v1.43.18
	github.com/aws/aws-sdk-go-v2/service/synthetics v1.43.0
	github.com/aws/aws-sdk-go-v2/service/timestreaminfluxdb v1.20.1
	github.com/aws/aws-sdk-go-v2/service/transfer v1.72.2
	github.com/aws/aws-sdk-go-v2/service/vpclattice v1.21.2
	github.com/aws/aws-sdk-go-v2/service/wellarchitected v1.40.2
	github.com/aws/aws-sdk-go-v2/service/workspaces v1.68.3
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/hashicorp/golang-lru/v2 v2.0.7 // indirect
	github.com/klauspost/compress v1.20.1 // indirect
	github.com/tidwall/gjson v1.18.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.38.0 // indirect
	go.opentelemetry.io/otel/metric v1.38.0 // indirect
	go.opentelemetry.io/otel/sdk v1.38.0 // indirect
	go.opentelemetry.io/otel/trace v1.38.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/time v0.16.0 // indirect
)
