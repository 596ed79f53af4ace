//go:build race

package gremlin_test

// raced reports whether the race detector is enabled, which makes tests slower and larger.
const raced = true
