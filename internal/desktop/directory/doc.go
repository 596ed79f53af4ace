// Package directory queries the controllers of directory domains over LDAP: it
// logs users in, checks credentials, and reads domain settings.
//
// It never follows a referral, never binds with an empty password (which
// succeeds anonymously and proves nothing), never sends a password over a
// connection without verified TLS, and never tries a password on a second
// controller after one has checked it.
package directory
