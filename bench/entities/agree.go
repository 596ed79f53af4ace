package main

import (
	"encoding/json"
	"fmt"
)

// checkEqualResults checks that the responses of the API and of the hand-written SQL have
// equally many entities or groups. It does not compare the entities themselves.
func checkEqualResults(q question, api, hand string) error {
	type counted struct {
		TotalCount   float64        `json:"totalCount"`
		Results      []any          `json:"results"`
		Rows         [][]any        `json:"rows"`
		EntityID     string         `json:"entityId"`
		Aggregations map[string]any `json:"aggregations"`
	}
	var a, h counted
	if err := json.Unmarshal([]byte(api), &a); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(hand), &h); err != nil {
		return err
	}
	switch {
	case q.single && (a.EntityID == "" || len(h.Results) != 1):
		return fmt.Errorf("%s: one of the results is empty", q.name)
	case q.groups != "":
		if n := leaves(a.Aggregations); n != len(h.Rows) {
			return fmt.Errorf("%s: the API has %d buckets, SQL has %d", q.name, n, len(h.Rows))
		}
	case !q.single && (a.TotalCount != h.TotalCount || len(a.Results) != len(h.Results)):
		return fmt.Errorf("%s: the API finds %v, SQL finds %v", q.name, a.TotalCount, h.TotalCount)
	}
	return nil
}

// leaves counts the innermost buckets.
func leaves(aggregations map[string]any) int {
	n := 0
	for _, each := range aggregations {
		buckets, _ := each.(map[string]any)["buckets"].(map[string]any)
		for _, b := range buckets {
			if sub, ok := b.(map[string]any)["subAggregations"].(map[string]any); ok {
				n += leaves(sub)
			} else {
				n++
			}
		}
	}
	return n
}
