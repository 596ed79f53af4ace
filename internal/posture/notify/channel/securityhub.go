package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/webhook"
)

// SecurityHub imports findings into AWS Security Hub with the permissions of a role. It
// returns the reasons of the findings that were not accepted, by their ids. Faults are
// answers of AWS, which users may see.
type SecurityHub interface {
	ImportFindings(ctx context.Context, role, externalID, region string, findings []json.RawMessage) (failed map[string]string, err error)
}

// securityHub imports the findings of a message. A repeated import updates the same
// findings. Events that are not about findings of AWS are skipped.
func (s *Senders) securityHub(ctx context.Context, c notify.Channel, m notify.Message) error {
	if s.o.SecurityHub == nil {
		return refused{errors.New("this server has no access to AWS")}
	}
	role, region := c.Value("roleArn"), c.Value("region")
	account := ""
	if fields := strings.Split(role, ":"); len(fields) > 4 { // arn:partition:iam::account:role/name
		account = fields[4]
	}
	findings, err := s.hubFindings(ctx, m, account, region)
	if err != nil || len(findings) == 0 {
		return err
	}
	failed, err := s.o.SecurityHub.ImportFindings(ctx, role, c.Value(notify.ExternalID), region, findings)
	switch fault.KindOf(err) {
	case fault.Internal: // also if err is nil
		if err != nil {
			return webhook.Unreachable{Cause: err}
		}
	case fault.Invalid:
		return refused{err}
	default:
		return err
	}
	return importError(failed, len(findings))
}

// hubFindings returns the findings of a message as Security Hub takes them: the last
// state of each.
func (s *Senders) hubFindings(ctx context.Context, m notify.Message, account, region string) ([]json.RawMessage, error) {
	if m.Test {
		return []json.RawMessage{s.o.TestFinding(m.ID, account, region)}, nil
	}
	last := map[posture.FindingID]int{}
	var all []posture.Finding
	for _, e := range m.Events {
		if e.Finding == nil {
			continue
		}
		i, ok := last[e.Finding.ID]
		if !ok {
			i, all = len(all), append(all, posture.Finding{})
			last[e.Finding.ID] = i
		}
		all[i] = *e.Finding
	}
	return s.o.Findings(ctx, m.Org, all, account, region)
}

// importError returns the error of an import that Security Hub did not accept completely. The
// message is sent again unless every finding that was not accepted is invalid.
func importError(failed map[string]string, total int) error {
	if len(failed) == 0 {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(failed)))
	err := fmt.Errorf("the hub did not accept %d of %d findings: %s: %s", len(failed), total, first, failed[first])
	for _, reason := range failed {
		if !strings.HasPrefix(reason, "Invalid") {
			return err
		}
	}
	return refused{err}
}
