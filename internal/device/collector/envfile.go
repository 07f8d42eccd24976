package collector

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A profile is a list of KEY=VALUE lines. Nothing of a shell is understood: a
// value is the text after the first equals sign, to the end of the line.

const maxProfileBytes = 64 << 10

var variableName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// parseEnv reads the lines of a profile. An error names the line and never
// what is in it: the line may hold the credential.
func parseEnv(body []byte) (map[string]string, error) {
	if len(body) > maxProfileBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", maxProfileBytes)
	}
	if !utf8.Valid(body) {
		return nil, fmt.Errorf("it is not UTF-8 text")
	}
	out := map[string]string{}
	for i, line := range strings.Split(string(body), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, found := strings.Cut(line, "=")
		if !found || !variableName.MatchString(name) {
			return nil, fmt.Errorf("line %d is not NAME=VALUE with an upper-case name", i+1)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("line %d sets %s a second time", i+1, name)
		}
		if err := checkValue(value); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		out[name] = value
	}
	return out, nil
}

// checkValue refuses what a shell or a line-based reader would change silently.
func checkValue(value string) error {
	switch {
	case strings.TrimSpace(value) != value:
		return fmt.Errorf("the value begins or ends with a space")
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("the value holds a control character")
	case len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0]:
		return fmt.Errorf("the value is in quotes, which would be part of it; write it without them")
	case !utf8.ValidString(value):
		return fmt.Errorf("the value is not UTF-8 text")
	}
	return nil
}

// formatEnv writes variables so that parseEnv reads the same ones: the named
// ones first and in that order, the others by name.
func formatEnv(variables map[string]string, first ...string) ([]byte, error) {
	names := slices.Clone(first)
	var rest []string
	for name := range variables {
		if !slices.Contains(first, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	var out strings.Builder
	for _, name := range append(names, rest...) {
		value, ok := variables[name]
		if !ok {
			continue
		}
		if !variableName.MatchString(name) {
			return nil, fmt.Errorf("%q is not a variable name", name)
		}
		if err := checkValue(value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out.WriteString(name + "=" + value + "\n")
	}
	if out.Len() > maxProfileBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", maxProfileBytes)
	}
	return []byte(out.String()), nil
}
