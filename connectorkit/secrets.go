package connectorkit

import (
	"bytes"
	"slices"
	"strings"
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
	alnum   = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
	upper   = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
	wordy   = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
	dashed  = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
	dotted  = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
	encoded = charset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~+/=")
)

func charset(list string) *[256]bool {
	var set [256]bool
	for i := range len(list) {
		set[list[i]] = true
	}
	return &set
}

// secretKinds is the table of everything that masking finds. A longer prefix comes before one that it continues.
var secretKinds = slices.Concat(
	words("anthropic", dashed, 16, 2, "sk-ant-"),
	words("openai", dashed, 20, 2, "sk-proj-"),
	words("model", dashed, 20, 2, "sk-"),
	words("stripe", alnum, 16, 1, "sk_live_", "sk_test_", "rk_live_"),
	words("aws", upper, 16, 1, "AKIA", "ASIA"),
	words("google", dashed, 35, 1, "AIza"),
	words("google", dotted, 20, 1, "ya29."),
	words("github", wordy, 22, 1, "github_pat_"),
	words("github", alnum, 30, 1, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	words("gitlab", dashed, 20, 1, "glpat-"),
	words("slack", dashed, 10, 2, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"),
	words("slack", dotted, 10, 2, "xoxe."),
	words("npm", alnum, 36, 1, "npm_"),
	words("pypi", dashed, 30, 1, "pypi-AgE"),
	words("huggingface", alnum, 30, 1, "hf_"),
	words("digitalocean", alnum, 40, 4, "dop_v1_"),
	words("sendgrid", dotted, 40, 2, "SG."),
	words("pdpp", dashed, 30, 1, "ldt_"),
	[]secretKind{
		{name: "jwt", prefix: "eyJ", locate: webToken},
		{name: "private_key", prefix: keyBegin, locate: privateKey},
		{name: "password", prefix: "://", locate: password},
		{name: "authorization", prefix: authorizationRest, locate: authorization, fold: true},
	},
)

// words returns a kind for each prefix, of secrets that are words: at least so many of these characters follow the
// prefix, and at least so many of the word are digits.
func words(name string, chars *[256]bool, least, digits int, prefixes ...string) (kinds []secretKind) {
	for _, prefix := range prefixes {
		kinds = append(kinds, secretKind{name: name, prefix: prefix, locate: func(raw []byte, i int) (from, to int) {
			end := wordEnd(raw, i+len(prefix), chars)
			n := end - i - len(prefix)
			if begins(raw, i) && (n >= least && countDigits(raw[i:end]) >= digits || n >= 4 && wasTruncated(raw, end)) {
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

// begins reports whether a word can begin at i: what is before it is no part of a word, or
// the end of an escape.
func begins(raw []byte, i int) bool {
	if i == 0 || !wordy[raw[i-1]] {
		return i == 0 || raw[i-1] != '\\' || !beginsEscape(raw, i-1)
	}
	if i >= 2 && strings.IndexByte("nrtbf", raw[i-1]) >= 0 && beginsEscape(raw, i-2) {
		return true
	}
	return i >= 6 && raw[i-5] == 'u' && beginsEscape(raw, i-6)
}

// escapes reports whether the backslash at i begins an escape.
func beginsEscape(raw []byte, i int) bool {
	n := 0
	for ; i >= 0 && raw[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

func wordEnd(raw []byte, i int, chars *[256]bool) int {
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

// password locates the one in scheme://user:password@host.
func password(raw []byte, i int) (from, to int) {
	if i == 0 || !alnum[raw[i-1]] {
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
	keyBegin          = "-----BEGIN "
	keyEnd            = "-----END "
	authorizationRest = "uthorization"
)

// privateKey locates a block of one, to its end or to that of the text.
func privateKey(raw []byte, i int) (from, to int) {
	head := raw[i+len(keyBegin) : min(len(raw), i+len(keyBegin)+60)]
	name := bytes.Index(head, []byte("PRIVATE KEY"))
	if name < 0 || bytes.IndexByte(head[:name], '"') >= 0 || bytes.IndexByte(head[:name], '\\') >= 0 {
		return 0, 0
	}
	end := i + len(keyBegin) + name
	for end < len(raw) && (raw[end] != '"' || beginsEscape(raw, end-1)) {
		end++
	}
	if j := bytes.Index(raw[i:end], []byte(keyEnd)); j >= 0 {
		if k := bytes.Index(raw[i+j+len(keyEnd):end], []byte("-----")); k >= 0 {
			end = i + j + len(keyEnd) + k + 5
		}
	}
	return i, end
}

// authorization locates the value behind the name of the header.
func authorization(raw []byte, i int) (from, to int) {
	if i == 0 || raw[i-1]|0x20 != 'a' {
		return 0, 0
	}
	j := i + len(authorizationRest)
	gap := j
	for j < len(raw) && j < gap+8 && strings.IndexByte(`"\': =`, raw[j]) >= 0 {
		if raw[j] == '"' && !beginsEscape(raw, j-1) {
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
	end := wordEnd(raw, j, encoded)
	n := end - j
	if n >= 8 && scheme && (countDigits(raw[j:end]) > 0 || n >= 24) || n >= 16 && countDigits(raw[j:end]) > 1 ||
		n >= 4 && wasTruncated(raw, end) {
		return j, end
	}
	return 0, 0
}

// webToken locates a JSON web token: two encoded objects and a signature.
func webToken(raw []byte, i int) (from, to int) {
	if !begins(raw, i) {
		return 0, 0
	}
	first := wordEnd(raw, i, dashed)
	if first-i < 12 || first+4 > len(raw) || !bytes.HasPrefix(raw[first:], []byte(".eyJ")) {
		if first-i >= 12 && wasTruncated(raw, first) {
			return i, first
		}
		return 0, 0
	}
	second := wordEnd(raw, first+1, dashed)
	if second < len(raw) && raw[second] == '.' {
		second = wordEnd(raw, second+1, dashed)
	}
	return i, second
}
