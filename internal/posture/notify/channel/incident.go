package channel

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/notify"
)

// pagerDuty sends an event of the Events API v2. The message's id is the deduplication
// key, so that a retry belongs to the same incident.
func (s *Senders) pagerDuty(ctx context.Context, c notify.Channel, m notify.Message) error {
	severity := "warning"
	for _, e := range m.Events {
		if e.Finding != nil && e.Finding.Level == posture.LevelHigh && e.Kind == notify.FindingRaised {
			severity = "critical"
		}
	}
	if m.Test {
		severity = "info"
	}
	body := map[string]any{
		"routing_key": c.Value("routingKey"), "event_action": "trigger", "dedup_key": m.ID,
		"payload": map[string]any{
			"summary": cut(m.Title(), 1024), "source": "vigil", "severity": severity, "timestamp": m.At.UTC(),
			"custom_details": map[string]any{"events": m.Lines(100)},
		},
	}
	if m.Link != "" {
		body["links"] = []any{map[string]any{"href": m.Link, "text": "Open in Vigil"}}
	}
	return s.post(ctx, cmp.Or(c.Value("url"), "https://events.pagerduty.com/v2/enqueue"), nil, encode(body), nil)
}

// jiraText escapes the wiki markup of a description. Two backslashes are a line break
// there, so a backslash is written as a character reference.
var jiraText = strings.NewReplacer(`\`, "&#92;", "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "!", `\!`, "*", `\*`, "_", `\_`)

// jira creates an issue with the REST API v2. It first searches for an issue with the
// message's label, because an earlier attempt may have created one and lost the
// response.
func (s *Senders) jira(ctx context.Context, c notify.Channel, m notify.Message) error {
	base := strings.TrimRight(c.Value("url"), "/")
	header := map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(c.Value("username")+":"+c.Value("apiToken")))}
	label := "vigil-" + m.ID
	exists, err := s.jiraHasLabel(ctx, base, header, label)
	if err != nil || exists {
		return err
	}
	text := jiraText.Replace(strings.Join(m.Lines(50), "\n"))
	if m.Link != "" {
		text += "\n\n" + m.Link
	}
	return s.post(ctx, base+"/rest/api/2/issue", header, encode(map[string]any{"fields": map[string]any{
		"project": map[string]any{"key": c.Value("project")}, "issuetype": map[string]any{"name": cmp.Or(c.Value("issueType"), "Task")},
		"summary": cut(m.Title(), 250), "description": text, "labels": []string{"vigil", label},
	}}), nil)
}

// jiraHasLabel reports whether an issue has a label. It first tries the search of Jira
// Cloud. Jira Data Center does not have that one, but an older one that Jira Cloud has
// removed.
func (s *Senders) jiraHasLabel(ctx context.Context, base string, header map[string]string, label string) (bool, error) {
	var found struct {
		Issues []struct {
			Key string `json:"key"`
		} `json:"issues"`
	}
	query := "?" + url.Values{"jql": {`labels = "` + label + `"`}, "fields": {"key"}, "maxResults": {"1"}}.Encode()
	err := s.call(ctx, http.MethodGet, base+"/rest/api/2/search/jql"+query, header, nil, &found)
	if status, ok := errors.AsType[unexpectedStatus](err); ok && status == http.StatusNotFound {
		err = s.call(ctx, http.MethodGet, base+"/rest/api/2/search"+query, header, nil, &found)
	}
	return len(found.Issues) > 0, err
}

// cut truncates a text to a number of bytes at a character boundary.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-3], "") + "..."
}
