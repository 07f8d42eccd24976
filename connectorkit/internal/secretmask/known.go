package secretmask

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// KnownSecrets are the credentials of a run. A provider may return one of them in a record. It is safe for concurrent
// use.
type KnownSecrets struct {
	key []byte

	mu  sync.RWMutex
	all []knownSecret
}

type knownSecret struct {
	texts       []string // the secret, and its form in an address
	encoded     [][]byte // the texts in JSON
	replacement string
}

// minKnownSecret is the length from which a secret is removed. Tokens are longer. A password may be a word that a mail
// or a note contains, which must be stored as it is.
const minKnownSecret = 16

// NewKnownSecrets returns an empty set. The key tags equal secrets alike.
func NewKnownSecrets(key string) *KnownSecrets { return &KnownSecrets{key: []byte(key)} }

// Add adds a secret. It leaves out one with fewer than sixteen bytes.
func (s *KnownSecrets) Add(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(secret) < minKnownSecret ||
		slices.ContainsFunc(s.all, func(k knownSecret) bool { return k.texts[0] == secret }) {
		return
	}
	k := knownSecret{texts: []string{secret}, replacement: replacement(s.key, "credential", []byte(secret))}
	if address := url.QueryEscape(secret); address != secret {
		k.texts = append(k.texts, address)
	}
	for _, text := range k.texts {
		b, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			continue // a text that is not UTF-8 is not in JSON
		}
		b = b[1 : len(b)-1]
		k.encoded = append(k.encoded, b)
		if bytes.IndexByte(b, '/') >= 0 {
			k.encoded = append(k.encoded, bytes.ReplaceAll(b, []byte("/"), []byte(`\/`)))
		}
	}
	s.all = append(s.all, k)
}

// CleanLine returns a line of JSON without the secrets in its texts and names. A line without any is returned itself.
func (s *KnownSecrets) CleanLine(line []byte) ([]byte, error) {
	found := s.inLine(line)
	if len(found) == 0 {
		return line, nil
	}
	var out bytes.Buffer
	in := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true))
	to := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	for {
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		if token.Kind() == '"' {
			text := token.String()
			for _, k := range found {
				for _, secret := range k.texts {
					text = strings.ReplaceAll(text, secret, k.replacement)
				}
			}
			token = jsontext.String(text)
		}
		if err := to.WriteToken(token); err != nil {
			return nil, err
		}
	}
}

// inLine returns the secrets that a line may have.
func (s *KnownSecrets) inLine(line []byte) (found []knownSecret) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, k := range s.all {
		if slices.ContainsFunc(k.encoded, func(text []byte) bool { return bytes.Contains(line, text) }) {
			found = append(found, k)
		}
	}
	return found
}
