package imessage

import (
	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// Roots: the folder of Messages, or a single database, and the folder of what is attached.
const (
	messagesRoot    = "messages"
	attachmentsRoot = "attachments"
)

// backup is how a backup of a phone names the database.
const backup = "3d0d7e5fb2ce288813306e4d4636395e047a3d28"

// stores are the files. Of a single database that the owner named, its name does not matter.
func stores(db *database, single bool) []localfile.Store {
	databases := []string{"chat.db", "sms.db", backup, "3d/" + backup}
	if single {
		databases = []string{"*"}
	}
	var parts []string
	for _, name := range databases {
		for _, ending := range []string{"-wal", "-shm", "-journal"} {
			parts = append(parts, name+ending)
		}
	}
	untouched := func(name, root, stream, reason string, patterns ...string) localfile.Store {
		return localfile.Store{Name: name, Root: root, Patterns: patterns, Streams: []string{stream}, Reason: reason}
	}
	list := []localfile.Store{
		{
			Name: "database", Root: messagesRoot, Patterns: databases, Streams: []string{"messages", "chats", "participants", "attachments"},
			Reason: "messages, chats and what is attached", Companions: localdb.Companions, Open: db.read,
		},
		untouched("attachment_files", attachmentsRoot, "attachments", "what is attached is told by the database; its bytes are not collected", "**"),
	}
	if single {
		return list
	}
	return append(list,
		untouched("database_parts", messagesRoot, "messages", "belongs to the database", parts...),
		untouched("attachments_within", messagesRoot, "attachments", "what is attached is told by the database; its bytes are not collected", "Attachments/**"),
		untouched("made_by_messages", messagesRoot, "messages", "made anew by Messages", "Caches/**", "Drafts/**", "NickNameCache/**", "PluginMetaDataCache/**",
			"StickerCache/**", "SyncedPreferences/**", "CloudKitMetaData/**", "Backup/**", "ScheduledMessages/**", "*.plist", "prewarm.db*", ".DS_Store"),
	)
}
