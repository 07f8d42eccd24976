package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"pdpp/internal/slice"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// BodyHash is the SHA-256, in hex, of the records' canonical JSON (RFC 8785).
// Spacing, the order of members and the spelling of a number do not change it.
// Data without a value counts as null.
func BodyHash(records []slice.Record) (string, error) {
	body, err := json.Marshal(records)
	if err != nil {
		return "", fmt.Errorf("encode records: %w", err)
	}
	return Hash(body)
}

// Hash is the SHA-256, in hex, of the canonical form of a JSON value. It leaves v alone.
func Hash(v jsontext.Value) (string, error) {
	canonical := v.Clone()
	if err := canonical.Canonicalize(); err != nil {
		return "", fmt.Errorf("canonicalize: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}
