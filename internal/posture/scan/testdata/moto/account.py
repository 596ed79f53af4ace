"""Fills a moto account with about 350 resources: those of policies.yaml, and ordinary ones around them.

Usage: AWS_ENDPOINT_URL=http://127.0.0.1:5000 python account.py

Prints the number of resources."""

import io
import json
import os
import pathlib
import zipfile

import boto3
import yaml

REGION = "us-east-1"
ACCOUNT = "123456789012"
created = 0


def client(service):
    return boto3.client(service, region_name=REGION, aws_access_key_id="AKIATEST", aws_secret_access_key="x",
                        endpoint_url=os.environ["AWS_ENDPOINT_URL"])


def count(n=1):
    global created
    created += n


iam, ec2, s3, sqs, sns, kms = (client(s) for s in ("iam", "ec2", "s3", "sqs", "sns", "kms"))
secrets, ecr, logs, dynamodb, awslambda, ssm, rds = (client(s) for s in ("secretsmanager", "ecr", "logs", "dynamodb", "lambda", "ssm", "rds"))
SERVICE_TRUST = json.dumps({"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}})


def document(policy):
    return json.dumps({"Version": "2012-10-17", "Statement": policy if isinstance(policy, list) else [policy]})


def permission(rule):
    p = {"IpProtocol": rule["protocol"], "IpRanges": [{"CidrIp": r} for r in rule.get("ranges", [])],
         "Ipv6Ranges": [{"CidrIpv6": r} for r in rule.get("ranges6", [])]}
    if "from" in rule:
        p.update(FromPort=rule["from"], ToPort=rule["to"])
    return p


def special(entry, vpc):
    """Creates the resource of one entry of policies.yaml."""
    name, text = entry["name"], document(entry.get("policy", []))
    match entry["kind"]:
        case "queue":
            sqs.create_queue(QueueName=name, Attributes={"Policy": text})
        case "topic":
            arn = sns.create_topic(Name=name)["TopicArn"]
            sns.set_topic_attributes(TopicArn=arn, AttributeName="Policy", AttributeValue=text)
        case "key":
            key = kms.create_key(Policy=text, Description=name)["KeyMetadata"]["KeyId"]
            kms.create_alias(AliasName="alias/" + name, TargetKeyId=key)
        case "secret":
            secrets.create_secret(Name=name, SecretString="x")
            secrets.put_resource_policy(SecretId=name, ResourcePolicy=text)
        case "repository":
            ecr.create_repository(repositoryName=name)
            ecr.set_repository_policy(repositoryName=name, policyText=text)
        case "bucket":
            s3.create_bucket(Bucket=name)
            s3.put_bucket_policy(Bucket=name, Policy=text)
        case "role":
            iam.create_role(RoleName=name, AssumeRolePolicyDocument=text)
        case "policy":
            arn = iam.create_policy(PolicyName=name, PolicyDocument=text)["Policy"]["Arn"]
            iam.create_role(RoleName="has-" + name, AssumeRolePolicyDocument=SERVICE_TRUST)
            iam.attach_role_policy(RoleName="has-" + name, PolicyArn=arn)
            count()
        case "user":
            iam.create_user(UserName=name)
            iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=text)
        case "group":
            group = ec2.create_security_group(VpcId=vpc, GroupName=name, Description=name)["GroupId"]
            ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission(r) for r in entry["ingress"]])
        case other:
            raise ValueError(f"{name}: unknown kind of resource {other}")
    count()


def ordinary(vpc):
    """Creates resources as any account has them."""
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.1.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(VpcId=vpc, GroupName="web", Description="web")["GroupId"]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission({"protocol": "tcp", "from": 443, "to": 443, "ranges": ["0.0.0.0/0"]})])
    count(3)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("main.py", "def handler(event, context): pass")
    role = iam.create_role(RoleName="worker", AssumeRolePolicyDocument=SERVICE_TRUST.replace("ec2", "lambda"))["Role"]["Arn"]
    count()
    for i in range(25):
        n = f"{i:02}"
        s3.create_bucket(Bucket="plain-" + n)
        if i % 2:
            s3.put_bucket_versioning(Bucket="plain-" + n, VersioningConfiguration={"Status": "Enabled"})
            s3.put_public_access_block(Bucket="plain-" + n, PublicAccessBlockConfiguration=dict.fromkeys(
                ["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"], True))
        iam.create_user(UserName="person-" + n)
        if i % 3 == 0:
            iam.create_access_key(UserName="person-" + n)
            count()
        iam.create_role(RoleName="plain-" + n, AssumeRolePolicyDocument=SERVICE_TRUST)
        sqs.create_queue(QueueName="plain-" + n)
        sns.create_topic(Name="plain-" + n)
        ec2.create_security_group(VpcId=vpc, GroupName="plain-" + n, Description="plain")
        ec2.create_volume(AvailabilityZone=REGION + "a", Size=8, Encrypted=i % 2 == 0)
        logs.create_log_group(logGroupName="/plain/" + n)
        count(8)
    for i in range(12):
        n = f"{i:02}"
        dynamodb.create_table(TableName="plain-" + n, KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                              AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
        awslambda.create_function(FunctionName="plain-" + n, Runtime="python3.12", Role=role, Handler="main.handler", Code={"ZipFile": archive.getvalue()})
        ssm.put_parameter(Name="/plain/" + n, Value="x", Type="SecureString" if i % 2 else "String")
        secrets.create_secret(Name="plain-" + n, SecretString="x")
        kms.create_key(Description="plain")
        ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, SubnetId=subnet, SecurityGroupIds=[group])
        count(6)
    for i in range(6):
        rds.create_db_instance(DBInstanceIdentifier=f"plain-{i}", DBInstanceClass="db.t3.micro", Engine="postgres", AllocatedStorage=20,
                               MasterUsername="root", MasterUserPassword="Secret123456", StorageEncrypted=i % 2 == 0)
        count()


def main():
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    iam.create_open_id_connect_provider(Url="https://token.actions.githubusercontent.com", ThumbprintList=["a" * 40], ClientIDList=["sts.amazonaws.com"])
    count(2)
    with open(pathlib.Path(__file__).with_name("policies.yaml"), encoding="utf-8") as f:
        for entry in yaml.safe_load(f)["policies"]:
            special(entry, vpc)
    ordinary(vpc)
    print(created)


main()
