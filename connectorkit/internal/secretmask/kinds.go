package secretmask

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/internal/recordcheck"
)

// secretKind is a kind of secret. Every kind begins with a fixed text, which is how it is found.
type secretKind struct {
	name   string
	prefix string
	fold   bool // the case of the prefix does not matter
	// locate returns where the secret lies that has its prefix at i. To is 0 if there is none.
	locate func(raw []byte, i int) (from, to int)
}

var (
	alphanumerics     = characterSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
	capitalsAndDigits = characterSet("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	wordCharacters    = characterSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
	dashedCharacters  = characterSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
	dottedCharacters  = characterSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
	encodedCharacters = characterSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=")
)

func characterSet(list string) *[256]bool {
	var set [256]bool
	for i := range len(list) {
		set[list[i]] = true
	}
	return &set
}

// secretKinds is the table of everything that masking finds. A longer prefix comes before one that it continues.
var secretKinds = slices.Concat(
	prefixedWords("anthropic", dashedCharacters, 16, 2, "sk-ant-"),
	prefixedWords("openai", dashedCharacters, 20, 2, "sk-proj-"),
	prefixedWords("model", dashedCharacters, 20, 2, "sk-"),
	prefixedWords("stripe", alphanumerics, 16, 1, "sk_live_", "sk_test_", "rk_live_"),
	prefixedWords("aws", capitalsAndDigits, 16, 1, "AKIA", "ASIA"),
	prefixedWords("google", dashedCharacters, 35, 1, "AIza"),
	prefixedWords("google", dottedCharacters, 20, 1, "ya29."),
	prefixedWords("github", wordCharacters, 22, 1, "github_pat_"),
	prefixedWords("github", alphanumerics, 30, 1, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	prefixedWords("gitlab", dashedCharacters, 20, 1, "glpat-"),
	prefixedWords("slack", dashedCharacters, 10, 2, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"),
	prefixedWords("slack", dottedCharacters, 10, 2, "xoxe."),
	prefixedWords("npm", alphanumerics, 36, 1, "npm_"),
	prefixedWords("pypi", dashedCharacters, 30, 1, "pypi-AgE"),
	prefixedWords("huggingface", alphanumerics, 30, 1, "hf_"),
	prefixedWords("digitalocean", alphanumerics, 40, 4, "dop_v1_"),
	prefixedWords("sendgrid", dottedCharacters, 40, 2, "SG."),
	prefixedWords("pdpp", dashedCharacters, 30, 1, "ldt_"),
	[]secretKind{
		{name: "jwt", prefix: "eyJ", locate: locateWebToken},
		{name: "private_key", prefix: privateKeyBegin, locate: locatePrivateKey},
		{name: "password", prefix: "://", locate: locatePassword},
		{name: "authorization", prefix: authorizationRest, locate: locateAuthorization, fold: true},
	},
)

// prefixedWords returns a kind for each prefix, of secrets that are words: at least so many of these characters
// follow the prefix, and at least so many of the word are digits.
func prefixedWords(name string, chars *[256]bool, least, digits int, prefixes ...string) (kinds []secretKind) {
	for _, prefix := range prefixes {
		kinds = append(kinds, secretKind{name: name, prefix: prefix, locate: func(raw []byte, i int) (from, to int) {
			end := endOfWord(raw, i+len(prefix), chars)
			n := end - i - len(prefix)
			if wordBeginsAt(raw, i) && (n >= least && countDigits(raw[i:end]) >= digits || n >= 4 && wasTruncated(raw, end)) {
				return i, end
			}
			return 0, 0
		}})
	}
	return kinds
}

// startsAt reports whether the prefix is at i.
func (k *secretKind) startsAt(raw []byte, i int) bool {
	if i < 0 || len(raw)-i < len(k.prefix) {
		return false
	}
	there := raw[i : i+len(k.prefix)]
	return string(there) == k.prefix || k.fold && strings.EqualFold(string(there), k.prefix)
}

// wordBeginsAt reports whether a word can begin at i: what is before it is no part of a word, or
// the end of an escape.
func wordBeginsAt(raw []byte, i int) bool {
	if i == 0 || !wordCharacters[raw[i-1]] {
		return i == 0 || raw[i-1] != '\\' || !recordcheck.BeginsEscape(raw, i-1)
	}
	if i >= 2 && strings.IndexByte("nrtbf", raw[i-1]) >= 0 && recordcheck.BeginsEscape(raw, i-2) {
		return true
	}
	return i >= 6 && raw[i-5] == 'u' && recordcheck.BeginsEscape(raw, i-6)
}

func endOfWord(raw []byte, i int, chars *[256]bool) int {
	for i < len(raw) && chars[raw[i]] {
		i++
	}
	return i
}

func countDigits(b []byte) (n int) {
	for _, c := range b {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

// wasCut reports whether the text was cut at i, so that a secret may go on behind.
func wasTruncated(raw []byte, i int) bool { return bytes.HasPrefix(raw[i:], []byte(`\n[cut: `)) }

// locatePassword locates the one in scheme://user:password@host.
func locatePassword(raw []byte, i int) (from, to int) {
	if i == 0 || !alphanumerics[raw[i-1]] {
		return 0, 0
	}
	colon := 0
	for j := i + 3; j < len(raw) && j < i+400; j++ {
		switch c := raw[j]; {
		case c == '@' && colon > 0 && j > colon+1:
			return colon + 1, j
		case c == ':' && colon == 0:
			colon = j
		case c <= ' ' || c == '/' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '@' || c == '?' || c == '#':
			return 0, 0
		}
	}
	return 0, 0
}

const (
	privateKeyBegin   = "-----BEGIN "
	privateKeyEnd     = "-----END "
	authorizationRest = "uthorization"
)

// locatePrivateKey locates a block of one, to its end or to that of the text.
func locatePrivateKey(raw []byte, i int) (from, to int) {
	head := raw[i+len(privateKeyBegin) : min(len(raw), i+len(privateKeyBegin)+60)]
	name := bytes.Index(head, []byte("PRIVATE KEY"))
	if name < 0 || bytes.IndexByte(head[:name], '"') >= 0 || bytes.IndexByte(head[:name], '\\') >= 0 {
		return 0, 0
	}
	end := i + len(privateKeyBegin) + name
	for end < len(raw) && (raw[end] != '"' || recordcheck.BeginsEscape(raw, end-1)) {
		end++
	}
	if j := bytes.Index(raw[i:end], []byte(privateKeyEnd)); j >= 0 {
		if k := bytes.Index(raw[i+j+len(privateKeyEnd):end], []byte("-----")); k >= 0 {
			end = i + j + len(privateKeyEnd) + k + 5
		}
	}
	return i, end
}

// locateAuthorization locates the value behind the name of the header.
func locateAuthorization(raw []byte, i int) (from, to int) {
	if i == 0 || raw[i-1]|0x20 != 'a' {
		return 0, 0
	}
	j := i + len(authorizationRest)
	gap := j
	for j < len(raw) && j < gap+8 && strings.IndexByte(`"\': =`, raw[j]) >= 0 {
		if raw[j] == '"' && !recordcheck.BeginsEscape(raw, j-1) {
			return 0, 0 // the text ends here
		}
		j++
	}
	if bytes.IndexByte(raw[gap:j], ':') < 0 && bytes.IndexByte(raw[gap:j], '=') < 0 {
		return 0, 0
	}
	scheme := false
	for _, word := range []string{"bearer ", "basic ", "token ", "digest ", "apikey "} {
		if len(raw) > j+len(word) && strings.EqualFold(string(raw[j:j+len(word)]), word) {
			j, scheme = j+len(word), true
			break
		}
	}
	end := endOfWord(raw, j, encodedCharacters)
	n := end - j
	if n >= 8 && scheme && (countDigits(raw[j:end]) > 0 || n >= 24) || n >= 16 && countDigits(raw[j:end]) > 1 ||
		n >= 4 && wasTruncated(raw, end) {
		return j, end
	}
	return 0, 0
}

// locateWebToken locates a JSON web token: two encoded objects and a signature.
func locateWebToken(raw []byte, i int) (from, to int) {
	if !wordBeginsAt(raw, i) {
		return 0, 0
	}
	first := endOfWord(raw, i, dashedCharacters)
	if first-i < 12 || first+4 > len(raw) || !bytes.HasPrefix(raw[first:], []byte(".eyJ")) {
		if first-i >= 12 && wasTruncated(raw, first) {
			return i, first
		}
		return 0, 0
	}
	second := endOfWord(raw, first+1, dashedCharacters)
	if second < len(raw) && raw[second] == '.' {
		second = endOfWord(raw, second+1, dashedCharacters)
	}
	return i, second
}
