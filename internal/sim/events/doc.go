// Package events sends what clouds send when something changes in them, as the
// clouds do: signed, in their own forms, in order, again and again until it is
// taken.
//
// The signing keys are made anew in each run and shown under the clouds' own
// host names, so that the product verifies messages without knowing that they are
// simulated.
package events
