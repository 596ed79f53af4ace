//go:build race

package gremlin_test

// raced says that the race detector is at work, which makes everything slower and
// larger.
const raced = true
