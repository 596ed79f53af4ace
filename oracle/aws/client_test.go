// Package aws_test compares package awsapi with the service modules of the AWS SDK. Only
// this module requires them, so that neither the binary nor its module graph has them.
package aws_test

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/accessanalyzer"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/configservice"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/efs"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/guardduty"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/opensearch"
	"github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/redshift"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3control"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/securityhub"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/wafv2"
)

// clients creates a client of the SDK module of each service.
var clients = map[string]func(aws.Config) any{
	"accessanalyzer": func(c aws.Config) any { return accessanalyzer.NewFromConfig(c) },
	"acm":            func(c aws.Config) any { return acm.NewFromConfig(c) },
	"apigateway":     func(c aws.Config) any { return apigateway.NewFromConfig(c) },
	"apigatewayv2":   func(c aws.Config) any { return apigatewayv2.NewFromConfig(c) },
	"autoscaling":    func(c aws.Config) any { return autoscaling.NewFromConfig(c) },
	"cloudfront":     func(c aws.Config) any { return cloudfront.NewFromConfig(c) },
	"cloudtrail":     func(c aws.Config) any { return cloudtrail.NewFromConfig(c) },
	"cloudwatch":     func(c aws.Config) any { return cloudwatch.NewFromConfig(c) },
	"config":         func(c aws.Config) any { return configservice.NewFromConfig(c) },
	"dynamodb":       func(c aws.Config) any { return dynamodb.NewFromConfig(c) },
	"ec2":            func(c aws.Config) any { return ec2.NewFromConfig(c) },
	"ecr":            func(c aws.Config) any { return ecr.NewFromConfig(c) },
	"ecs":            func(c aws.Config) any { return ecs.NewFromConfig(c) },
	"efs":            func(c aws.Config) any { return efs.NewFromConfig(c) },
	"eks":            func(c aws.Config) any { return eks.NewFromConfig(c) },
	"elasticache":    func(c aws.Config) any { return elasticache.NewFromConfig(c) },
	"elbv2":          func(c aws.Config) any { return elasticloadbalancingv2.NewFromConfig(c) },
	"events":         func(c aws.Config) any { return eventbridge.NewFromConfig(c) },
	"guardduty":      func(c aws.Config) any { return guardduty.NewFromConfig(c) },
	"iam":            func(c aws.Config) any { return iam.NewFromConfig(c) },
	"kms":            func(c aws.Config) any { return kms.NewFromConfig(c) },
	"lambda":         func(c aws.Config) any { return lambda.NewFromConfig(c) },
	"logs":           func(c aws.Config) any { return cloudwatchlogs.NewFromConfig(c) },
	"opensearch":     func(c aws.Config) any { return opensearch.NewFromConfig(c) },
	"organizations":  func(c aws.Config) any { return organizations.NewFromConfig(c) },
	"rds":            func(c aws.Config) any { return rds.NewFromConfig(c) },
	"redshift":       func(c aws.Config) any { return redshift.NewFromConfig(c) },
	"route53":        func(c aws.Config) any { return route53.NewFromConfig(c) },
	"s3":             func(c aws.Config) any { return s3.NewFromConfig(c) },
	"s3control":      func(c aws.Config) any { return s3control.NewFromConfig(c) },
	"secretsmanager": func(c aws.Config) any { return secretsmanager.NewFromConfig(c) },
	"securityhub":    func(c aws.Config) any { return securityhub.NewFromConfig(c) },
	"sns":            func(c aws.Config) any { return sns.NewFromConfig(c) },
	"sqs":            func(c aws.Config) any { return sqs.NewFromConfig(c) },
	"ssm":            func(c aws.Config) any { return ssm.NewFromConfig(c) },
	"sts":            func(c aws.Config) any { return sts.NewFromConfig(c) },
	"wafv2":          func(c aws.Config) any { return wafv2.NewFromConfig(c) },
}
