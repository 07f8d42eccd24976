// Package releasefile reads the signed list of files of a release: SHA256SUMS, with a signature that ssh-keygen made.
package releasefile

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"strings"
)

// namespace is what the signature was made for, so that a signature for another purpose does not count.
const namespace = "pdpp-release"

const (
	signatureMagic = "SSHSIG"
	keyType        = "ssh-ed25519"
)

// Verify returns nil if the signature of the list was made with the key, a line such as "ssh-ed25519 AAAA...".
func Verify(list, signature []byte, key string) error {
	fields := strings.Fields(key)
	if len(fields) < 2 || fields[0] != keyType {
		return errors.New("the key is not of the form ssh-ed25519 AAAA")
	}
	wanted, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return errors.New("the key is not of the form ssh-ed25519 AAAA")
	}
	block, _ := pem.Decode(signature)
	if block == nil || block.Type != "SSH SIGNATURE" {
		return errors.New("it is no signature of ssh-keygen")
	}
	rest, magic := bytes.CutPrefix(block.Bytes, []byte(signatureMagic))
	if !magic || len(rest) < 4 || binary.BigEndian.Uint32(rest) != 1 {
		return errors.New("it is no signature of ssh-keygen")
	}
	signed, err := readStrings(rest[4:], 5) // key, namespace, reserved, hash, signature
	if err != nil {
		return err
	}
	if !bytes.Equal(signed[0], wanted) || string(signed[1]) != namespace {
		return errors.New("it was made with another key, or for another purpose")
	}
	public, err := readStrings(signed[0], 2)
	if err != nil {
		return err
	}
	made, err := readStrings(signed[4], 2)
	if err != nil {
		return err
	}
	if string(public[0]) != keyType || string(made[0]) != keyType || len(public[1]) != ed25519.PublicKeySize {
		return errors.New("it was made with a key of another kind")
	}
	var sum []byte
	switch string(signed[3]) {
	case "sha512":
		all := sha512.Sum512(list)
		sum = all[:]
	case "sha256":
		all := sha256.Sum256(list)
		sum = all[:]
	default:
		return errors.New("it uses an unknown hash")
	}
	message := []byte(signatureMagic)
	for _, part := range [][]byte{signed[1], signed[2], signed[3], sum} {
		message = append(binary.BigEndian.AppendUint32(message, uint32(len(part))), part...)
	}
	if !ed25519.Verify(public[1], message, made[1]) {
		return errors.New("it does not belong to this list")
	}
	return nil
}

// readStrings reads exactly n strings, each after its length.
func readStrings(b []byte, n int) (all [][]byte, err error) {
	for range n {
		if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errors.New("it is cut off")
		}
		end := 4 + binary.BigEndian.Uint32(b)
		all, b = append(all, b[4:end]), b[end:]
	}
	if len(b) > 0 {
		return nil, errors.New("something follows it")
	}
	return all, nil
}
