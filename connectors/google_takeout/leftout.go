package googletakeout

import (
	"strings"
	"unicode"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// leftOut are the products that an archive can hold besides what is collected. Their folders have
// names of the account's language; others are listed by the name that they have.
var leftOut = []localfile.LeftOut{
	products("Chrome history", "Chrome/History.json", "Chrome/Verlauf.json", "Chrome/Historial.json",
		"Chrome/Historique.json", "Chrome/BrowserHistory.json"),
	products("Chrome bookmarks and settings", "Chrome/**"),
	products("Google Keep notes", "Keep/**", "Google Keep/**", "Google Notizen/**"),
	products("Google Chat and Hangouts", "Google Chat/**", "Hangouts/**", "Google Hangouts/**"),
	products("Fit data", "Fit/**", "Google Fit/**"),
	products("Fitbit data", "Fitbit/**", "Google Health/**"),
	products("Google Play", "Google Play*/**"),
	products("Saved places and lists", "Saved/**", "Gespeichert/**", "Guardado/**", "Enregistrés/**",
		"Maps (your places)/**", "Maps (Meine Orte)/**", "Maps/**", "My Maps/**", "Maps*/**"),
	products("Google Contacts", "Contacts/**", "Kontakte/**", "Contactos/**", "Contatti/**", "Contatos/**"),
	products("Google Calendar", "Calendar/**", "Kalender/**", "Google Calendar/**", "Agenda/**", "Calendario/**"),
	products("Google Tasks and reminders", "Tasks/**", "Aufgaben/**", "Google Tasks/**", "Reminders/**",
		"Erinnerungen/**"),
	products("Gmail", "Mail/**", "Gmail/**", "Google Mail/**", "Correo/**"),
	products("Google Drive files", "Drive/**", "Google Drive/**", "Google Ablage/**"),
	products("Google Pay and Wallet", "Google Pay*/**", "Google Wallet/**", "Wallet/**"),
	products("Gemini and assistants", "Gemini*/**", "Assistant*/**", "Google Assistant*/**", "Bard/**", "NotebookLM/**"),
	products("Google Home and Nest", "Home App/**", "Google Home/**", "Nest/**"),
	products("Google account and devices", "Google Account/**", "Google-Konto/**", "Google Workspace/**",
		"Access log activity/**", "Android Device Configuration Service/**", "Profile/**", "Profil/**",
		"Phone*/**", "Google Phone*/**", "Voice/**", "Google Voice/**"),
	products("Blogs, groups, classes and sites", "Blogger/**", "Groups/**", "Google Groups/**", "Classroom/**", "Sites/**",
		"Google+*/**", "News/**", "Google News/**", "Shopping*/**", "Google Shopping/**",
		"Books/**", "Google Books/**", "Google Play Bücher/**", "Arts & Culture/**", "Discover/**", "Google Alerts/**",
		"Alerts/**", "Search Contributions/**", "Street View/**", "Translate/**", "Google Translate/**"),
	products("YouTube comments", "YouTube*/comments/**", "YouTube*/my-comments/**", "YouTube*/Kommentare/**",
		"YouTube*/comentarios/**", "YouTube*/commentaires/**"),
	products("YouTube live chats", "YouTube*/live chats/**", "YouTube*/my-live-chat-messages/**", "YouTube*/Livechats/**"),
	products("YouTube subscriptions", "YouTube*/subscriptions/**", "YouTube*/Abos/**", "YouTube*/suscripciones/**",
		"YouTube*/abonnements/**"),
	products("YouTube playlists", "YouTube*/playlists/**", "YouTube*/Playlists/**", "YouTube*/listas de reproducción/**"),
	products("YouTube videos and channels", "YouTube*/videos/**", "YouTube*/Videos/**", "YouTube*/video metadata/**",
		"YouTube*/channels/**", "YouTube*/Kanäle/**", "YouTube*/music*/**", "YouTube*/*.csv", "YouTube*/*/*.csv"),
	products("Edits of the timeline", "Location History*/Timeline Edits.json", "*/Timeline Edits.json",
		"Location History*/Tombstones.csv", "*/Tombstones.csv", "*/Encrypted Backups.txt"),
	products("Settings of the location history", "Location History*/Settings.json", "Standortverlauf*/Einstellungen.json",
		"Location History*/Device Settings.json"),
	products("Google Photos print orders", "Google*/print-subscriptions.json"),
	products("Google Photos comments and memories", "Google*/shared_album_comments.json",
		"Google*/user-generated-memory-titles.json"),
	{Name: "Photos and videos themselves", Patterns: endings("jpg", "jpeg", "png", "heic", "heif", "gif", "webp", "tif",
		"tiff", "bmp", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2", "raf", "avif", "svg", "mp4", "mov", "m4v", "avi",
		"webm", "mkv", "mpg", "mpeg", "3gp", "mts", "wmv", "mp", "mp~2", "mp~3")},
}

// products are the folders of a product, which lie side by side in an archive.
func products(name string, folders ...string) localfile.LeftOut {
	out := localfile.LeftOut{Name: name}
	for _, folder := range folders {
		out.Patterns = append(out.Patterns, "**/Takeout/"+folder)
	}
	return out
}

// endings are patterns of file names, in small and capital letters.
func endings(list ...string) (out []string) {
	for _, ending := range list {
		var b strings.Builder
		b.WriteString("**/*.")
		for _, r := range ending {
			if upper := unicode.ToUpper(r); upper != r {
				b.WriteString("[" + string(r) + string(upper) + "]")
			} else {
				b.WriteRune(r)
			}
		}
		out = append(out, b.String())
	}
	return out
}
