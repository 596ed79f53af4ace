package export

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"vigil/internal/posture"
)

// sarifSchema is the URL of the SARIF 2.1.0 schema.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID               string              `json:"id"`
		Name             string              `json:"name"`
		ShortDescription sarifText           `json:"shortDescription"`
		FullDescription  sarifText           `json:"fullDescription"`
		Help             sarifText           `json:"help"`
		HelpURI          string              `json:"helpUri,omitempty"`
		Configuration    sarifConfiguration  `json:"defaultConfiguration"`
		Properties       sarifRuleProperties `json:"properties"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifRuleProperties struct {
		Tags     []string `json:"tags"`
		Severity string   `json:"security-severity"` // used by GitHub code scanning
	}
	sarifResult struct {
		RuleID       string                `json:"ruleId"`
		RuleIndex    int                   `json:"ruleIndex"`
		Level        string                `json:"level"`
		Message      sarifText             `json:"message"`
		Locations    []sarifLocation       `json:"locations"`
		Fingerprints map[string]string     `json:"partialFingerprints"`
		Suppressions []sarifSuppression    `json:"suppressions,omitempty"`
		Properties   sarifResultProperties `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	// Most viewers do not show a result without a file, so the resource is represented
	// as a file.
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name      string `json:"name"`
		Qualified string `json:"fullyQualifiedName"`
		Kind      string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifResultProperties struct {
		Provider  string `json:"cloudProvider"`
		Account   string `json:"cloudAccountId"`
		Region    string `json:"region"`
		RiskScore int    `json:"riskScore"`
	}
)

// sarifLevels maps levels to those of SARIF, sarifSeverities to GitHub's security
// severities.
var (
	sarifLevels     = map[posture.FindingLevel]string{posture.LevelHigh: "error", posture.LevelMedium: "warning", posture.LevelLow: "note"}
	sarifSeverities = map[posture.FindingLevel]string{posture.LevelHigh: "8.0", posture.LevelMedium: "5.5", posture.LevelLow: "3.0"}
)

// sarif writes one run. The results come before the rules, which are known only at the
// end; the order of JSON members does not matter.
type sarif struct {
	array
	report Report
	index  map[posture.RuleID]int
	rules  []sarifRule
}

func newSARIF(w io.Writer, r Report) Writer {
	before := `{"$schema":"` + sarifSchema + `","version":"2.1.0","runs":[{"columnKind":"utf16CodeUnits","results":`
	return &sarif{array: array{w: w, before: before}, report: r, index: map[posture.RuleID]int{}, rules: []sarifRule{}}
}

func (s *sarif) Put(f posture.Finding) error {
	rule := s.report.rule(f.Rule)
	i, known := s.index[f.Rule]
	if !known {
		i = len(s.rules)
		s.index[f.Rule] = i
		s.rules = append(s.rules, sarifRuleOf(rule, f.Level))
	}
	result := sarifResult{
		RuleID: string(f.Rule), RuleIndex: i, Level: sarifLevels[f.Level],
		Message: sarifText{fmt.Sprintf("%s: %s %s. %s", rule.Name, f.ObjectType(), resourceName(f), rule.SuggestedAction)},
		Locations: []sarifLocation{{
			sarifPhysical{sarifArtifact{sarifURI(f)}, sarifRegion{1}}, []sarifLogical{{resourceName(f), resourceID(f), "resource"}},
		}},
		Fingerprints: map[string]string{"vigilFindingId/v1": string(f.ID)},
		Properties:   sarifResultProperties{string(f.Provider), string(f.Account), f.Region, f.Risk.Score},
	}
	if f.Suppressed(s.report.At) {
		result.Suppressions = []sarifSuppression{{"external", f.Suppression.Reason}}
	}
	return s.put(result)
}

func (s *sarif) Flush() error { return nil }

func (s *sarif) Close() error {
	tool := map[string]any{"driver": map[string]any{"name": "Vigil", "version": s.report.Version, "rules": s.rules}}
	text, err := json.Marshal(tool)
	if err != nil {
		return err
	}
	s.after = `,"tool":` + string(text) + "}]}"
	return s.close()
}

func sarifRuleOf(r posture.Rule, level posture.FindingLevel) sarifRule {
	return sarifRule{
		ID: string(r.ID), Name: r.DisplayName, ShortDescription: sarifText{r.Name}, FullDescription: sarifText{r.Description}, Help: sarifText{r.SuggestedAction},
		HelpURI: r.DocumentationLink, Configuration: sarifConfiguration{sarifLevels[level]},
		Properties: sarifRuleProperties{append([]string{"security"}, r.Controls...), sarifSeverities[level]},
	}
}

// sarifURI returns a relative URI for a resource: its path in the cloud,
// percent-encoded.
func sarifURI(f posture.Finding) string {
	var b strings.Builder
	b.WriteString(string(f.Provider) + "/" + string(f.Account) + "/" + string(f.ObjectType()) + "/")
	for _, c := range []byte(f.ObjectID()) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
