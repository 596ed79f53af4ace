// Package directory speaks LDAP with the controllers of directory domains: it
// logs users in, checks credentials, and reads what a domain tells of itself.
//
// It never follows a referral, never binds with an empty password (which would
// succeed and prove nothing), never sends a password over a line that is not
// verified TLS, and never tries a password on a second controller after one has
// judged it.
package directory
