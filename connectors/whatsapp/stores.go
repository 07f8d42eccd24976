package whatsapp

import (
	"github.com/pdpp-go/pdpp/connectorkit/localarchive"
	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// liveRootName is the folder that WhatsApp keeps on a Mac.
const liveRootName = "live"

var exportStreams = []string{"messages", "chats", "attachments"}

// fileSource reads exports, and the folder of the program where there is one.
func fileSource(exports, live string, settings ownerSettings) localfile.Source {
	imported := localarchive.Import{
		Dir: exports, Streams: exportStreams,
		Kinds: []localarchive.MemberKind{
			{Name: "exports", Patterns: []string{"**/*.txt", "**/*.TXT"}, Streams: exportStreams,
				Reason: "chats as a phone exports them", Read: settings.readExport},
		},
		Known: []string{"**/*-PHOTO-*", "**/*-VIDEO-*", "**/*-AUDIO-*", "**/IMG-*", "**/VID-*", "**/PTT-*", "**/STK-*"},
		LeftOut: []localfile.LeftOut{{Name: "Pictures, voice messages and other files (named as attachments)",
			Patterns: []string{
				"**/*-PHOTO-*", "**/*-VIDEO-*", "**/*-AUDIO-*", "**/*-STICKER-*", "**/*-GIF-*", "**/IMG-*", "**/VID-*", "**/PTT-*",
				"**/STK-*", "**/AUD-*", "**/DOC-*", "**/[0-9]*-*.*",
				"**/*.jpg", "**/*.jpeg", "**/*.png", "**/*.webp", "**/*.gif", "**/*.mp4", "**/*.3gp", "**/*.opus", "**/*.m4a",
				"**/*.aac", "**/*.mp3", "**/*.pdf", "**/*.vcf", "**/*.doc*", "**/*.xls*", "**/*.ppt*",
			}}},
		Limits: localarchive.ArchiveLimits{Entry: maxExportBytes},
		Empty: "there is no export in the folder; open a chat in WhatsApp, choose Export chat, and put the file that " +
			"comes into it",
	}
	src := imported.Source()
	if live != "" {
		src.Empty = ""
	}
	untouched := func(name, reason string, patterns ...string) localfile.Store {
		return localfile.Store{Name: name, Root: liveRootName, Patterns: patterns, Streams: []string{"messages"},
			Reason: reason}
	}
	phone := localfile.Store{
		Name: "phone_database", Root: src.Roots[0].Name, Patterns: []string{"**/msgstore.db"}, Streams: exportStreams,
		Reason: "a decrypted database of an Android phone", Companions: localdb.Companions, Open: readAndroid,
	}
	src.Stores = append([]localfile.Store{phone}, src.Stores...)
	src.Roots = append(src.Roots, localfile.Root{Name: liveRootName, Path: live})
	src.Stores = append(src.Stores,
		localfile.Store{
			Name: "live_database", Root: liveRootName, Patterns: []string{"ChatStorage.sqlite"}, Streams: exportStreams,
			Reason: "what WhatsApp keeps on this Mac", Companions: localdb.Companions, Open: readMacDatabase,
		},
		untouched("live_database_parts", "belongs to the database", "ChatStorage.sqlite-wal", "ChatStorage.sqlite-shm",
			"ChatStorage.sqlite-journal"),
		untouched("live_media", "sent files are listed from the database; the files are not collected", "Message/**",
			"Media/**"),
		untouched("live_others", "rebuilt by WhatsApp, or not part of a message",
			"*.sqlite*", "*.db*", "Library/**", "Logs/**",
			"Caches/**", "Documents/**", "stickers/**", "*.plist", ".com.apple*", "fts/**", ".DS_Store"),
	)
	return src
}
