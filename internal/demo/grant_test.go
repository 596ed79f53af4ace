package demo

import (
	"log/slog"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/scan"
)

// TestOneAccountIsReadInPart evaluates the rule about the rotation of keys. Its verdicts are
// unknown in the second AWS account, which lacks one permission, and known in the first.
func TestOneAccountIsReadInPart(t *testing.T) {
	t.Parallel()
	sandbox, product := newSandbox(t)
	const rotation posture.RuleID = "aws-kms-rotation"
	var one []posture.Rule
	for _, e := range product.Rules {
		if e.Rule.ID == rotation {
			one = append(one, e.Rule)
		}
	}
	var unknown []int
	for _, set := range sandbox.world.sets {
		if set.Provider != posture.AWS {
			continue
		}
		access, err := sandbox.Access(posture.AWS, string(set.Links[0].Account))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sandbox.Sources() {
			if source.Provider() != posture.AWS {
				continue
			}
			result, err := scan.Run(t.Context(), scan.Options{Source: source, Access: access, Rules: one, Log: slog.New(slog.DiscardHandler), Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			unknown = append(unknown, result.Verdicts[rotation].Unknown)
		}
	}
	if len(unknown) != 2 || unknown[0] != 0 || unknown[1] == 0 {
		t.Errorf("unknown verdicts about the rotation of keys by account: %v, want none in the first and some in the second", unknown)
	}
}
