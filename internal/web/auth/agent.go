package auth

import "strings"

// Marks of browsers and systems in User-Agent, the most specific first: most browsers also claim to be older ones.
var (
	browsers = []agentMark{
		{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"Edg", "Edge"}, {"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Chrome/", "Chrome"}, {"CriOS/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = []agentMark{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"},
		{"Mac OS X", "Mac"}, {"Linux", "Linux"}, {"BSD", "BSD"},
	}
)

type agentMark struct{ sign, name string }

// browserWords returns roughly which browser sent a request. The User-Agent itself is not stored.
func browserWords(agent string) string {
	find := func(all []agentMark) string {
		for _, n := range all {
			if strings.Contains(agent, n.sign) {
				return n.name
			}
		}
		return ""
	}
	browser, system := find(browsers), find(systems)
	switch {
	case browser == "":
		return "Another program"
	case system == "":
		return browser
	default:
		return browser + " on " + system
	}
}
