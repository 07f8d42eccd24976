package credential

import "crypto/ed25519"

// SigningKey returns the key that signs archives. It follows from this key, and reveals nothing of it.
func (k Key) SigningKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(k.deriveKey("archive signature"))
}
