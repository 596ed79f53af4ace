package gcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/collect"
	"vigil/internal/posture/resource"
)

// postCall is the prefix of calls with the method POST. Their input is the request body; see
// splitInput for the exception.
const postCall = "POST "

// apisWithNameInPath are the APIs whose paths begin with the name of the API.
var apisWithNameInPath = []string{"compute", "storage", "bigquery", "dns"}

// Pages implements [collect.Transport]. The address consists of API, version and path of a method:
// compute/v1/projects/p/aggregated/disks.
func (s *session) Pages(ctx context.Context, r *resource.Request, address string, input []byte, page func(gjson.Result) error) error {
	permission, _, _ := strings.Cut(conventions{}.Permission(r), " ") // the first of several
	if rest, ok := strings.CutPrefix(address, postCall); ok {
		query, body := splitInput(input)
		answer, err := s.call(ctx, http.MethodPost, rest, query, body, permission)
		if err != nil {
			return err
		}
		return page(answer)
	}
	query := queryOf(gjson.ParseBytes(input))
	used := map[string]bool{} // page tokens
	for {
		answer, err := s.call(ctx, http.MethodGet, address, query, nil, permission)
		if err != nil {
			return err
		}
		if err := page(answer); err != nil {
			return err
		}
		if err := incomplete(answer); err != nil {
			return err
		}
		token := strings.Clone(answer.Get("nextPageToken").String()) // a copy, so that the token does not keep the page in memory
		switch {
		case token == "":
			return nil
		case used[token]: // the list would not end
			return fmt.Errorf("Google returned the page token %.100q twice", token)
		}
		used[token] = true
		query.Set("pageToken", token)
	}
}

// queryOf converts the members of an input to a query.
func queryOf(input gjson.Result) url.Values {
	query := url.Values{}
	input.ForEach(func(name, value gjson.Result) bool {
		query.Set(name.Str, value.String())
		return true
	})
	return query
}

// call makes one call and returns its response. The permission is the one that the call needs.
func (s *session) call(ctx context.Context, method, address string, query url.Values, body []byte, permission string) (gjson.Result, error) {
	u, err := urlOf(address)
	if err != nil {
		return gjson.Result{}, err
	}
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return gjson.Result{}, err
	}
	req.Header.Set("Accept", "application/json")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := s.client.RoundTrip(req)
	switch {
	case err != nil && (collect.IsFatal(err) || errors.Is(err, collect.ErrThrottled)):
		return gjson.Result{}, err
	case err != nil:
		return gjson.Result{}, fmt.Errorf("call Google: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return gjson.Result{}, fmt.Errorf("read response: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		api, _, _ := strings.Cut(address, "/")
		return gjson.Result{}, s.classify(api, refusal(answer.StatusCode, text, permission))
	}
	return gjson.ParseBytes(text), nil
}

// splitInput returns the input of a POST as the body or, if one of its members has a dot in its
// name, such as options.requestedPolicyVersion, as query parameters.
func splitInput(input []byte) (query url.Values, body []byte) {
	query = queryOf(gjson.ParseBytes(input))
	for name := range query {
		if strings.Contains(name, ".") {
			return query, nil
		}
	}
	return nil, input
}

// escape escapes the characters that cannot be in a path. It leaves % alone, because names
// may already be escaped.
var escape = strings.NewReplacer("?", "%3F", "#", "%23", " ", "%20")

// urlOf returns the URL of an address.
func urlOf(address string) (*url.URL, error) {
	api, path, ok := strings.Cut(address, "/")
	if !ok || strings.Trim(api, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil, fmt.Errorf("%.200q is not a valid method address", address)
	}
	if slices.Contains(apisWithNameInPath, api) {
		path = address
	}
	u, err := url.Parse("https://" + api + ".googleapis.com/" + escape.Replace(path))
	if err != nil {
		return nil, fmt.Errorf("%.200q is not a valid method address", address)
	}
	return u, nil
}

// incomplete fails when a list reports that it is incomplete, so that missing
// resources are not taken as deleted.
func incomplete(answer gjson.Result) error {
	var places []string
	for _, member := range []string{"unreachable", "unreachables", "missingZones", "failedLocations", `warnings.#(code=="REGION_UNREACHABLE")#.region`} {
		for _, location := range answer.Get(member).Array() {
			places = append(places, location.String())
		}
	}
	if items := answer.Get("items"); items.IsObject() { // an aggregated list: items by location
		items.ForEach(func(location, part gjson.Result) bool {
			if part.Get("warning.code").Str == "UNREACHABLE" {
				places = append(places, location.Str)
			}
			return true
		})
	}
	if len(places) == 0 {
		return nil
	}
	return errors.New("unreachable locations: " + clip(strings.Join(places, ", ")))
}
