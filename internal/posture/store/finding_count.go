package store

import (
	"slices"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// The fields by which findings are counted as they change.
var (
	placeFields = []string{"account", "provider", "service", "region", "level", "status"}
	kindFields  = []string{"rule", "provider", "service", "level", "status"}
)

type (
	placeKey [6]string
	kindKey  [5]string
)

// counts gathers by how much the numbers of findings change.
type counts struct {
	places map[placeKey]int
	kinds  map[kindKey]int
}

// add counts a finding in, or out with -1.
func (c *counts) add(f posture.Finding, by int) {
	if c.places == nil {
		c.places, c.kinds = map[placeKey]int{}, map[kindKey]int{}
	}
	c.places[placeKey{string(f.Account), string(f.Provider), f.Service, f.Region, string(f.Level), string(f.Status)}] += by
	c.kinds[kindKey{string(f.Rule), string(f.Provider), f.Service, string(f.Level), string(f.Status)}] += by
}

// save writes the differences.
func (c *counts) save(tx *sqldb.Tx, org posture.OrgID) error {
	var places, kinds [][]any
	for k, n := range c.places {
		if n != 0 {
			places = append(places, []any{org, k[0], k[1], k[2], k[3], k[4], k[5], n})
		}
	}
	for k, n := range c.kinds {
		if n != 0 {
			kinds = append(kinds, []any{org, k[0], k[1], k[2], k[3], k[4], n})
		}
	}
	if err := saveCounts(tx, "finding_place", placeFields, places); err != nil {
		return err
	}
	return saveCounts(tx, "finding_kind", kindFields, kinds)
}

func saveCounts(tx *sqldb.Tx, table string, fields []string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	// In one order, so that two who count at once do not wait for each other in a
	// circle.
	slices.SortFunc(rows, func(a, b []any) int {
		for i := 1; i <= len(fields); i++ {
			if c := strings.Compare(a[i].(string), b[i].(string)); c != 0 {
				return c
			}
		}
		return 0
	})
	columns := "org, " + strings.Join(fields, ", ")
	values := []string{"$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8"}[:len(fields)+2]
	_, err := tx.ExecEach(`
		INSERT INTO `+table+` (`+columns+`, total)
		VALUES (`+strings.Join(values, ", ")+`)
		ON CONFLICT (`+columns+`) DO UPDATE
		SET total = `+table+`.total + excluded.total`, slices.Values(rows))
	return err
}
