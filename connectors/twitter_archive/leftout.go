package twitterarchive

import "github.com/pdpp-go/pdpp/connectorkit/localfile"

// uncollectedFiles are the files of an archive that are not collected.
var uncollectedFiles = []localfile.LeftOut{
	dataFiles("Account and profile", "account.js", "profile.js", "account-*.js", "ageinfo.js", "phone-number.js",
		"email-address-change.js", "screen-name-change.js", "verified*.js", "protected-history.js",
		"user-link-clicks.js", "professional-data.js", "shop-*.js", "product-*.js", "tweetdeck.js", "twitter-shop.js",
		"commerce-catalog.js", "community-note*.js"),
	dataFiles("Lists", "lists-created.js", "lists-member.js", "lists-subscribed.js"),
	dataFiles("Bookmarks", "bookmark*.js"),
	dataFiles("Saved searches", "saved-search.js"),
	dataFiles("Moments, articles and Spaces", "moment.js", "article*.js", "spaces-metadata.js", "spaces*.js",
		"periscope-*.js"),
	dataFiles("Contacts that were uploaded", "contact.js"),
	dataFiles("Advertising and interests", "ad-*.js", "ads-*.js", "personalization.js"),
	dataFiles("Devices, apps and sign-ins", "ip-audit.js", "device-token.js", "ni-devices.js", "connected-application.js",
		"app.js", "key-registry.js", "sso.js", "branch-links.js"),
	dataFiles("Headers without texts", "tweet-headers.js", "deleted-tweet-headers.js", "direct-message-headers.js",
		"direct-message-group-headers.js", "direct-messages-group-headers.js"),
	dataFiles("Communities", "community_*.js", "communities*.js", "reply-prompt.js", "smartblock.js", "account-label.js"),
	{Name: "Pictures and videos", Patterns: []string{"**/*_media/**"}},
}

// packagingFiles describes the archive and holds nothing of its owner's.
var packagingFiles = []string{"**/data/manifest.js", "**/data/README.txt", "manifest.js", "README.txt",
	"**/Your archive.html", "**/assets/**"}

// dataFiles are files of the folder data, or of a folder that was unpacked.
func dataFiles(name string, files ...string) localfile.LeftOut {
	out := localfile.LeftOut{Name: name}
	for _, file := range files {
		out.Patterns = append(out.Patterns, "**/data/"+file, file)
	}
	return out
}
