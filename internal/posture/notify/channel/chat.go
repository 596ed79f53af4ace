package channel

import (
	"context"
	"maps"
	"strings"

	"vigil/internal/posture/notify"
)

// shownLines is the number of events that a chat message lists.
const shownLines = 10

// slackText escapes Slack's markup.
var slackText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slack posts to an incoming webhook of Slack.
func (s *Senders) slack(ctx context.Context, c notify.Channel, m notify.Message) error {
	text := "*" + slackText.Replace(m.Title()) + "*"
	for _, line := range m.Lines(shownLines) {
		text += "\n• " + slackText.Replace(line)
	}
	if m.Link != "" {
		text += "\n<" + m.Link + "|Open in Vigil>"
	}
	return s.post(ctx, c.Value("url"), nil, encode(map[string]any{"text": text, "unfurl_links": false}), nil)
}

// teams posts an adaptive card to a workflow webhook of Microsoft Teams. Its texts are not in
// TextBlocks: these interpret Markdown, whose escapes some Teams clients display.
func (s *Senders) teams(ctx context.Context, c notify.Channel, m notify.Message) error {
	block := func(text string, more map[string]any) map[string]any {
		run := map[string]any{"type": "TextRun", "text": text}
		maps.Copy(run, more)
		return map[string]any{"type": "RichTextBlock", "inlines": []any{run}}
	}
	body := []any{block(m.Title(), map[string]any{"weight": "Bolder", "size": "Medium"})}
	for _, line := range m.Lines(shownLines) {
		body = append(body, block(line, nil))
	}
	card := map[string]any{"type": "AdaptiveCard", "version": "1.4", "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "body": body}
	if m.Link != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Open in Vigil", "url": m.Link}}
	}
	return s.post(ctx, c.Value("url"), nil, encode(map[string]any{
		"type": "message", "attachments": []any{map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}},
	}), nil)
}
