package twitterarchive

import "github.com/pdpp-go/pdpp/connectorkit/localfile"

// leftOut are the files of an archive that are not collected.
var leftOut = []localfile.LeftOut{
	listed("Account and profile", "account.js", "profile.js", "account-*.js", "ageinfo.js", "phone-number.js",
		"email-address-change.js", "screen-name-change.js", "verified*.js", "protected-history.js",
		"user-link-clicks.js", "professional-data.js", "shop-*.js", "product-*.js", "tweetdeck.js", "twitter-shop.js",
		"commerce-catalog.js", "community-note*.js"),
	listed("Lists", "lists-created.js", "lists-member.js", "lists-subscribed.js"),
	listed("Bookmarks", "bookmark*.js"),
	listed("Saved searches", "saved-search.js"),
	listed("Moments, articles and Spaces", "moment.js", "article*.js", "spaces-metadata.js", "spaces*.js",
		"periscope-*.js"),
	listed("Contacts that were uploaded", "contact.js"),
	listed("Advertising and interests", "ad-*.js", "ads-*.js", "personalization.js"),
	listed("Devices, apps and sign-ins", "ip-audit.js", "device-token.js", "ni-devices.js", "connected-application.js",
		"app.js", "key-registry.js", "sso.js", "branch-links.js"),
	listed("Headers without texts", "tweet-headers.js", "deleted-tweet-headers.js", "direct-message-headers.js",
		"direct-message-group-headers.js", "direct-messages-group-headers.js"),
	listed("Communities", "community_*.js", "communities*.js", "reply-prompt.js", "smartblock.js", "account-label.js"),
	{Name: "Pictures and videos", Patterns: []string{"**/*_media/**"}},
}

// packaging describes the archive and holds nothing of its owner's.
var packaging = []string{"**/data/manifest.js", "**/data/README.txt", "manifest.js", "README.txt",
	"**/Your archive.html", "**/assets/**"}

// listed are files of the folder data, or of a folder that was unpacked.
func listed(name string, files ...string) localfile.LeftOut {
	out := localfile.LeftOut{Name: name}
	for _, file := range files {
		out.Patterns = append(out.Patterns, "**/data/"+file, file)
	}
	return out
}
