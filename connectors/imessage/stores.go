package imessage

import (
	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// Roots: the folder of Messages, or a single database, and the folder of attachments.
const (
	messagesRoot    = "messages"
	attachmentsRoot = "attachments"
)

// backupDatabaseName is how a backup of a phone names the database.
const backupDatabaseName = "3d0d7e5fb2ce288813306e4d4636395e047a3d28"

// databaseStores are the files. Of a single database that the owner named, its name does not matter.
func databaseStores(db *databaseReader, single bool) []localfile.Store {
	databases := []string{"chat.db", "sms.db", backupDatabaseName, "3d/" + backupDatabaseName}
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
			Name: "database", Root: messagesRoot, Patterns: databases,
			Streams: []string{"messages", "chats", "participants", "attachments"},
			Reason:  "messages, chats and what is attached", Companions: localdb.Companions, Open: db.readDatabase,
		},
		untouched("attachment_files", attachmentsRoot, "attachments",
			"attachments are listed from the database; the files are not collected", "**"),
	}
	if single {
		return list
	}
	return append(list,
		untouched("database_parts", messagesRoot, "messages", "belongs to the database", parts...),
		untouched("attachments_within", messagesRoot, "attachments",
			"attachments are listed from the database; the files are not collected", "Attachments/**"),
		untouched("made_by_messages", messagesRoot, "messages", "rebuilt by Messages", "Caches/**", "Drafts/**",
			"NickNameCache/**", "PluginMetaDataCache/**",
			"StickerCache/**", "SyncedPreferences/**", "CloudKitMetaData/**", "Backup/**", "ScheduledMessages/**", "*.plist",
			"prewarm.db*", ".DS_Store"),
	)
}
