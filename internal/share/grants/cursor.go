package grants

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Settings are small values that every process shares.
type Settings interface {
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
	InitSetting(ctx context.Context, name string, value []byte, now time.Time) ([]byte, error)
}

// Cursors makes positions in a list opaque: clients cannot read, change or use them for another list.
type Cursors struct{ aead cipher.AEAD }

const (
	cursorKeySetting = "cursor_key"
	cursorKeyBytes   = 32
	maxCursor        = 16 << 10
)

// NewCursors takes the key that all processes over one store share, and makes it when
// there is none.
func NewCursors(ctx context.Context, kept Settings, now time.Time) (*Cursors, error) {
	mine := make([]byte, cursorKeyBytes)
	rand.Read(mine)
	key, err := kept.InitSetting(ctx, cursorKeySetting, mine, now)
	if err != nil {
		return nil, fmt.Errorf("read the key of cursors: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use the key of cursors: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("use the key of cursors: %w", err)
	}
	return &Cursors{aead: aead}, nil
}

var cursorNumber = regexp.MustCompile(`[0-9]+`)

// cursorDigits is as many digits as the number of any change has.
const cursorDigits = 12

// Seal makes a cursor for one kind of list in one context; see Context. The value must be one that JSON can hold.
// Spaces take the place of digits that its numbers lack: otherwise the length of a cursor would reveal how many records
// there are that the reader may not see.
func (c *Cursors) Seal(kind, context string, value any) string {
	plain, err := json.Marshal(value)
	if err != nil {
		panic(err) // a mistake in this program
	}
	for _, number := range cursorNumber.FindAll(plain, -1) {
		plain = append(plain, bytes.Repeat([]byte(" "), max(0, cursorDigits-len(number)))...)
	}
	return base64.RawURLEncoding.EncodeToString(c.aead.Seal(nil, nil, plain, []byte(Context(kind, context))))
}

// Open decrypts a cursor into a value. It returns a usererr.Error with CodeInvalidCursor unless Seal made it for the
// same kind and context.
func (c *Cursors) Open(kind, context, cursor string, into any) error {
	if len(cursor) > maxCursor {
		return errInvalidCursor()
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return errInvalidCursor()
	}
	plain, err := c.aead.Open(nil, nil, sealed, []byte(Context(kind, context)))
	if err != nil || json.Unmarshal(plain, into) != nil {
		return errInvalidCursor()
	}
	return nil
}

// Context joins parts so that different lists of parts never yield the same text.
func Context(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strconv.Itoa(len(p)))
		b.WriteByte(':')
		b.WriteString(p)
	}
	return b.String()
}
