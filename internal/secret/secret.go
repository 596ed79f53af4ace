// Package secret seals stored credentials and opens them again.
//
// A [Box] encrypts with a Tink keyset that can be rotated. The keyset is kept
// in a [Keyring], wrapped by a [Master] key that lives elsewhere: in a file, an
// environment variable or a key management service. Every sealed value is bound
// to the [Cell] it is stored in, so that a ciphertext moved to another row,
// field or organisation does not open.
//
// [Text] carries a secret through the program without showing it.
package secret
