package awsapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect/awsapi/model"
)

// ErrEndless is the error that AWS returned the same page token twice.
var ErrEndless = errors.New("AWS returned the same page token twice")

// Pages makes a call and yields its output page by page. An error ends the sequence. An
// operation without pagination yields one page.
func (c *Client) Pages(ctx context.Context, service, operation, region string, input any) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		op, err := model.Find(service, operation)
		if err != nil {
			yield("", err)
			return
		}
		values, err := members(input)
		if err != nil {
			yield("", err)
			return
		}
		page := op.Paging()
		used := map[string]bool{} // the tokens of the pages so far
		for {
			answer, err := c.call(ctx, op, region, values)
			if err != nil || page == nil {
				yield(answer, err)
				return
			}
			tokens, more := nextTokens(page, answer) // before yield, so that the answer can be freed during it
			if !yield(answer, nil) || !more {
				return
			}
			key := strings.Join(tokens, "\x00")
			if used[key] { // the list would not end
				yield("", fmt.Errorf("%s %s in %s: %w", service, operation, region, ErrEndless))
				return
			}
			used[key] = true
			for i, name := range page.Input {
				delete(values, name)
				if tokens[i] != "" {
					values[name] = tokenValue(op, name, tokens[i])
				}
			}
		}
	}
}

// nextTokens returns the tokens for the page after a response, and whether there is such a page.
func nextTokens(p *model.Page, answer string) ([]string, bool) {
	if p.More != "" && !lookup(answer, p.More).Bool() {
		return nil, false
	}
	tokens, hasToken := make([]string, len(p.Output)), false
	for i, expression := range p.Output {
		tokens[i] = strings.Clone(lookup(answer, expression).String()) // a copy: a substring would keep the whole response in memory
		hasToken = hasToken || tokens[i] != ""
	}
	return tokens, hasToken
}

// lookup evaluates a botocore paginator expression: names with dots, the last item of a
// list as [-1], and || between alternatives.
func lookup(answer string, expression string) gjson.Result {
	for alternative := range strings.SplitSeq(expression, "||") {
		var found gjson.Result
		for i, part := range strings.Split(strings.TrimSpace(alternative), ".") {
			name, last := strings.CutSuffix(part, "[-1]")
			if i == 0 {
				found = gjson.Get(answer, gjson.Escape(name))
			} else {
				found = found.Get(gjson.Escape(name))
			}
			if last {
				items := found.Array()
				if len(items) == 0 {
					found = gjson.Result{}
					break
				}
				found = items[len(items)-1]
			}
		}
		if found.Exists() && found.String() != "" {
			return found
		}
	}
	return gjson.Result{}
}

// tokenValue converts a token to the type of its member: a few are numbers.
func tokenValue(op *model.Operation, name, token string) any {
	if m := op.Input.Member(name); m != nil && (m.Shape.Type == model.Integer || m.Shape.Type == model.Long) {
		return gjson.Parse(token).Int()
	}
	return token
}
