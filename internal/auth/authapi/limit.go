package authapi

import (
	"vigil/internal/auth"
)

// limitedTo is the wire form of an account limit: accounts with one of the ids
// or one of the tags.
type limitedTo struct {
	CloudAccountIDs []string            `json:"cloudAccountIds" maxItems:"1000"`
	Tags            map[string][]string `json:"tags" maxItems:"50"` // values by name
}

// wireLimit returns nil for no limit.
func wireLimit(l auth.AccountLimit) *limitedTo {
	if l.IsZero() {
		return nil
	}
	return &limitedTo{l.IDList(), l.TagLists()}
}

// limit returns the limit; none for nil.
func (l *limitedTo) limit() (auth.AccountLimit, error) {
	if l == nil {
		return auth.AccountLimit{}, nil
	}
	return auth.NewAccountLimit(l.CloudAccountIDs, l.Tags)
}
