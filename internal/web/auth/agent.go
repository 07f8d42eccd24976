package auth

import "strings"

// named are words that browsers and systems put into User-Agent, the telling ones
// first: most browsers also claim to be those that came before them.
var (
	browsers = []named{
		{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"},
		{"Chrome/", "Chrome"}, {"CriOS/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = []named{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"},
		{"Mac OS X", "Mac"}, {"Linux", "Linux"}, {"BSD", "BSD"},
	}
)

type named struct{ sign, name string }

// browserWords says coarsely which browser a request comes from. What it claims to be
// is not kept.
func browserWords(agent string) string {
	find := func(all []named) string {
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
