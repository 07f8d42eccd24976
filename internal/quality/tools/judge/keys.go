package main

import (
	"bytes"
	"errors"
	"io"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// normalise writes a JSON value again with every member's name in snake_case.
// Values stay as they are, numbers to the digit.
func normalise(line []byte) ([]byte, error) {
	var out bytes.Buffer
	in, enc := jsontext.NewDecoder(bytes.NewReader(line)), jsontext.NewEncoder(&out)
	for started := false; ; {
		kind, length := in.StackIndex(in.StackDepth())
		isName := kind == '{' && length%2 == 0
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes()), nil
		}
		if err != nil {
			return nil, err
		}
		if started && enc.StackDepth() == 0 {
			return nil, errors.New("a line holds one object")
		}
		if isName && token.Kind() == '"' {
			token = jsontext.String(snake(token.String()))
		}
		if err := enc.WriteToken(token); err != nil {
			return nil, err
		}
		started = true
	}
}

// snake writes camelCase as snake_case. Anything else stays as it is.
func snake(name string) string {
	runes := []rune(name)
	var out []rune
	for i, r := range runes {
		if !unicode.IsUpper(r) {
			out = append(out, r)
			continue
		}
		afterWord := i > 0 && runes[i-1] != '_' && !unicode.IsUpper(runes[i-1])
		endsAcronym := i > 0 && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if afterWord || endsAcronym {
			out = append(out, '_')
		}
		out = append(out, unicode.ToLower(r))
	}
	return string(out)
}
