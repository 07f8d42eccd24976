package blobfile

import (
	"errors"
	"mime"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	unknownMediaType = "application/octet-stream"
	maxFileName      = 200
)

// MediaType returns the media type of a connector's declaration without parameters. A missing or invalid type
// becomes application/octet-stream.
func MediaType(declared string) string {
	t, _, err := mime.ParseMediaType(declared)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !strings.Contains(t, "/") || len(t) > 100 {
		return unknownMediaType
	}
	return t
}

// FileName returns a form of a connector's file name that is valid on every system and contains no invisible
// characters. It returns "" when nothing remains.
func FileName(declared string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		case strings.ContainsRune(`/\:*?"<>|`, r):
			return '_'
		}
		return r
	}, declared)
	name = strings.TrimRight(strings.TrimLeft(name, " ."), " .")
	if len(name) > maxFileName {
		ext := filepath.Ext(name)
		if len(ext) > 20 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:maxFileName-len(ext)], "") + ext
	}
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	if slices.Contains(windowsDeviceNames, stem) {
		name = "_" + name
	}
	return name
}

// windowsDeviceNames cannot be file names on Windows, with any extension.
var windowsDeviceNames = []string{
	"CON", "PRN", "AUX", "NUL",
	"COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8", "COM9",
	"LPT1", "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9",
}
