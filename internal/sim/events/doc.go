// Package events sends the change events of simulated clouds like the real
// ones: signed, in the real formats, and with retries until they are accepted.
//
// The signing keys are generated in each run and served under the clouds' host
// names, so that the product verifies the messages with the same code as real ones.
package events
