package derive

import (
	"regexp"
	"time"

	"vigil/internal/posture/resource"
)

// transitionTime is the time in the reason of an instance's last change of state, such as
// "User initiated (2024-06-01 08:30:00 GMT)". Changes that EC2 itself makes have none.
var transitionTime = regexp.MustCompile(`\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)`)

// awsStopTime adds when an instance was stopped.
var awsStopTime = resource.Function{
	Properties: []resource.Property{
		{Name: "stoppedAt", Kind: resource.Time, Doc: "When it was stopped or terminated; absent if EC2 does not tell."},
	},
	Apply: func(in resource.FunctionInput, b *resource.Builder) error {
		found := transitionTime.FindStringSubmatch(in.Value.String())
		if found == nil {
			return nil
		}
		if at, err := time.Parse(time.DateTime, found[1]); err == nil {
			b.Text("stoppedAt", at.UTC().Format(time.RFC3339))
		}
		return nil
	},
}
