//go:build !race

package deliver_test

// raced reports whether the race detector is enabled, which makes everything slower.
const raced = false
