package aws

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"vigil/internal/posture"
)

// ec2 begins an entity of EC2: they all have an id, tags, and a resource name
// made of both.
func (s *scope) ec2(t posture.EntityType, kind string, id *string, tags []types.Tag) *resource {
	r := s.resource(t, aws.ToString(id))
	r.XID = s.arn("ec2", kind+"/"+aws.ToString(id))
	for _, tag := range tags {
		name, value := aws.ToString(tag.Key), aws.ToString(tag.Value)
		r.Tag(name, value)
		if name == "Name" && value != "" {
			r.Name = value
		}
	}
	return r
}
