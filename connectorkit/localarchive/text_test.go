package localarchive

import (
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

func utf16Text(text string, high, low int) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		two := [2]byte{}
		two[high], two[low] = byte(unit>>8), byte(unit)
		b.Write(two[:])
	}
	return b.String()
}

// TestText reads texts with and without a byte order mark.
func TestText(t *testing.T) {
	long := strings.Repeat("aé🌱", 3000)
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""}, {"UTF-8", "aé", "aé"}, {"marked UTF-8", "\xef\xbb\xbfaé", "aé"}, {"short", "\x00a", "\x00a"},
		{"marked little endian", "\xff\xfe" + utf16Text(long, 1, 0), long},
		{"marked big endian", "\xfe\xff" + utf16Text(long, 0, 1), long},
		{"little endian", utf16Text("ab🌱", 1, 0), "ab🌱"}, {"big endian", utf16Text("ab🌱", 0, 1), "ab🌱"},
		{"half a character", "\xff\xfea\x00b", "a"}, {"half a pair", "\xff\xfea\x00" + utf16Text("🌱", 1, 0)[:2], "a\uFFFD"},
		{"zeros", "\x00\x00\x00\x00", "\x00\x00\x00\x00"}, {"one zero", "a\x00bc", "a\x00bc"},
		{"a zero at the end", "abc\x00", "abc\x00"},
		{"zeros in the middle", "a\x00\x00b", "a\x00\x00b"}, {"a zero at the beginning", "\x00abc", "\x00abc"},
		{"zeros at both ends", "\x00ab\x00", "\x00ab\x00"}, {"zeros at the end", "ab\x00\x00", "ab\x00\x00"},
	} {
		got, err := io.ReadAll(DecodedText(strings.NewReader(c.in)))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %.40q, want %.40q, %v", c.name, got, c.want, err)
		}
	}
}

// TestZipFields reads names and times as old programs wrote them.
func TestZipFields(t *testing.T) {
	raw := make([]byte, 128)
	for i := range raw {
		raw[i] = byte(0x80 + i)
	}
	for _, c := range []struct {
		name  string
		flags uint16
		want  string
	}{
		{string(raw), 0, string(codePage437)}, {"A" + string(raw[:2]) + "\x7f", 0, "AÇü\x7f"}, {"é", 0, "é"},
		{"a\xff", 0x800, "a\uFFFD"},
	} {
		if got := memberName([]byte(c.name), c.flags); got != c.want {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
	if got := len(memberName([]byte(strings.Repeat("x", maxNameBytes+1)), 0)); got != maxNameBytes {
		t.Errorf("a name of %d bytes is kept, want %d", got, maxNameBytes)
	}
	at := time.Date(2026, 12, 31, 23, 59, 58, 0, time.UTC)
	if got := decodeDOSTime(46<<9|12<<5|31, 23<<11|59<<5|29); !got.Equal(at) {
		t.Errorf("%v, want %v", got, at)
	}
}
