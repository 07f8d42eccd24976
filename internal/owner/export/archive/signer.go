package archive

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// signerName is the name of the key in signatures.
const signerName = "pdpp"

// newSigner returns what signs with a key, and the text that verifies its signatures.
func newSigner(key ed25519.PrivateKey) (signer note.Signer, verifier string, err error) {
	public, _ := key.Public().(ed25519.PublicKey)
	if verifier, err = note.NewEd25519VerifierKey(signerName, public); err != nil {
		return nil, "", fmt.Errorf("derive the text that verifies: %w", err)
	}
	parts := strings.SplitN(verifier, "+", 3) // name, hash, key
	const algorithm = 1                       // Ed25519
	secret := base64.StdEncoding.EncodeToString(append([]byte{algorithm}, key.Seed()...))
	if signer, err = note.NewSigner("PRIVATE+KEY+" + parts[0] + "+" + parts[1] + "+" + secret); err != nil {
		return nil, "", errors.New("the key cannot sign") // the library's error may contain it
	}
	return signer, verifier, nil
}
