//go:build !race

package deliver_test

// raced says that the race detector is at work, which makes everything slower.
const raced = false
