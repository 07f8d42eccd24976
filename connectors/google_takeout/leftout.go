package googletakeout

import (
	"strings"
	"unicode"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// uncollectedFiles are the products in an archive that are not collected. Their folders have names in the account's
// language; unknown folders are listed by name.
var uncollectedFiles = []localfile.LeftOut{
	productFolders("Chrome history", "Chrome/History.json", "Chrome/Verlauf.json", "Chrome/Historial.json",
		"Chrome/Historique.json", "Chrome/BrowserHistory.json"),
	productFolders("Chrome bookmarks and settings", "Chrome/**"),
	productFolders("Google Keep notes", "Keep/**", "Google Keep/**", "Google Notizen/**"),
	productFolders("Google Chat and Hangouts", "Google Chat/**", "Hangouts/**", "Google Hangouts/**"),
	productFolders("Fit data", "Fit/**", "Google Fit/**"),
	productFolders("Fitbit data", "Fitbit/**", "Google Health/**"),
	productFolders("Google Play", "Google Play*/**"),
	productFolders("Saved places and lists", "Saved/**", "Gespeichert/**", "Guardado/**", "Enregistrés/**",
		"Maps (your places)/**", "Maps (Meine Orte)/**", "Maps/**", "My Maps/**", "Maps*/**"),
	productFolders("Google Contacts", "Contacts/**", "Kontakte/**", "Contactos/**", "Contatti/**", "Contatos/**"),
	productFolders("Google Calendar", "Calendar/**", "Kalender/**", "Google Calendar/**", "Agenda/**", "Calendario/**"),
	productFolders("Google Tasks and reminders", "Tasks/**", "Aufgaben/**", "Google Tasks/**", "Reminders/**",
		"Erinnerungen/**"),
	productFolders("Gmail", "Mail/**", "Gmail/**", "Google Mail/**", "Correo/**"),
	productFolders("Google Drive files", "Drive/**", "Google Drive/**", "Google Ablage/**"),
	productFolders("Google Pay and Wallet", "Google Pay*/**", "Google Wallet/**", "Wallet/**"),
	productFolders("Gemini and assistants", "Gemini*/**", "Assistant*/**", "Google Assistant*/**", "Bard/**",
		"NotebookLM/**"),
	productFolders("Google Home and Nest", "Home App/**", "Google Home/**", "Nest/**"),
	productFolders("Google account and devices", "Google Account/**", "Google-Konto/**", "Google Workspace/**",
		"Access log activity/**", "Android Device Configuration Service/**", "Profile/**", "Profil/**",
		"Phone*/**", "Google Phone*/**", "Voice/**", "Google Voice/**"),
	productFolders("Blogs, groups, classes and sites", "Blogger/**", "Groups/**", "Google Groups/**", "Classroom/**",
		"Sites/**",
		"Google+*/**", "News/**", "Google News/**", "Shopping*/**", "Google Shopping/**",
		"Books/**", "Google Books/**", "Google Play Bücher/**", "Arts & Culture/**", "Discover/**", "Google Alerts/**",
		"Alerts/**", "Search Contributions/**", "Street View/**", "Translate/**", "Google Translate/**"),
	productFolders("YouTube comments", "YouTube*/comments/**", "YouTube*/my-comments/**", "YouTube*/Kommentare/**",
		"YouTube*/comentarios/**", "YouTube*/commentaires/**"),
	productFolders("YouTube live chats", "YouTube*/live chats/**", "YouTube*/my-live-chat-messages/**",
		"YouTube*/Livechats/**"),
	productFolders("YouTube subscriptions", "YouTube*/subscriptions/**", "YouTube*/Abos/**", "YouTube*/suscripciones/**",
		"YouTube*/abonnements/**"),
	productFolders("YouTube playlists", "YouTube*/playlists/**", "YouTube*/Playlists/**",
		"YouTube*/listas de reproducción/**"),
	productFolders("YouTube videos and channels", "YouTube*/videos/**", "YouTube*/Videos/**", "YouTube*/video metadata/**",
		"YouTube*/channels/**", "YouTube*/Kanäle/**", "YouTube*/music*/**", "YouTube*/*.csv", "YouTube*/*/*.csv"),
	productFolders("Edits of the timeline", "Location History*/Timeline Edits.json", "*/Timeline Edits.json",
		"Location History*/Tombstones.csv", "*/Tombstones.csv", "*/Encrypted Backups.txt"),
	productFolders("Settings of the location history", "Location History*/Settings.json",
		"Standortverlauf*/Einstellungen.json",
		"Location History*/Device Settings.json"),
	productFolders("Google Photos print orders", "Google*/print-subscriptions.json"),
	productFolders("Google Photos comments and memories", "Google*/shared_album_comments.json",
		"Google*/user-generated-memory-titles.json"),
	{Name: "Photos and videos themselves", Patterns: fileNamePatterns("jpg", "jpeg", "png", "heic", "heif", "gif", "webp",
		"tif",
		"tiff", "bmp", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2", "raf", "avif", "svg", "mp4", "mov", "m4v", "avi",
		"webm", "mkv", "mpg", "mpeg", "3gp", "mts", "wmv", "mp", "mp~2", "mp~3")},
}

// productFolders are the folders of a product, which lie side by side in an archive.
func productFolders(name string, folders ...string) localfile.LeftOut {
	out := localfile.LeftOut{Name: name}
	for _, folder := range folders {
		out.Patterns = append(out.Patterns, "**/Takeout/"+folder)
	}
	return out
}

// fileNamePatterns are patterns of file names, in small and capital letters.
func fileNamePatterns(list ...string) (out []string) {
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
