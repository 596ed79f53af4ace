// Package secret encrypts stored credentials.
//
// A [Box] encrypts with a Tink keyset that can be rotated. The keyset is stored
// in a [Keyring], encrypted by a [Master] key from elsewhere: a file, an
// environment variable or a key management service. Every sealed value is bound
// to the [Cell] it is stored in, so that a ciphertext moved to another row,
// field or organisation cannot be opened.
//
// [Text] carries a secret through the program without printing it.
package secret
