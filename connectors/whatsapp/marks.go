package whatsapp

import (
	"regexp"
	"strings"
)

// Placeholders that the app writes instead of content, in the known languages. The tables may grow; unknown
// placeholders stay text.

// omittedMarkers replace a file that was left out of the export.
var omittedMarkers = []string{
	"<media omitted>", "<medien ausgeschlossen>", "<multimedia omitido>", "<archivo omitido>", "<médias omis>",
	"<mídia oculta>", "<arquivo de mídia oculto>",
	"<ficheiro não revelado>", "<media omessi>", "<media weggelaten>", "<без медиафайлов>", "<medya dahil edilmedi>",
	"<メディアなし>", "<미디어 파일 제외됨>", "<तस्वीर के बिना>",
	"image omitted", "video omitted", "gif omitted", "sticker omitted", "audio omitted", "document omitted",
	"contact card omitted", "video note omitted",
	"bild weggelassen", "video weggelassen", "gif weggelassen", "sticker weggelassen", "audio weggelassen",
	"dokument weggelassen", "kontaktkarte ausgelassen",
	"imagen omitida", "video omitido", "gif omitido", "sticker omitido", "audio omitido", "documento omitido",
	"tarjeta de contacto omitida",
	"image absente", "vidéo absente", "gif retiré", "sticker retiré", "audio omis", "document retiré",
	"fiche contact retirée",
	"imagem ocultada", "vídeo omitido", "figurinha omitida", "áudio ocultado", "immagine omessa", "video omesso",
	"audio omesso", "documento omesso", "afbeelding weggelaten",
}

// attachedIOS and attachedAndroid name a file of the export.
var (
	attachedIOS = regexp.MustCompile(`^<[^:<>]{2,30}: ([^<>/\\]+\.[A-Za-z0-9]{1,8})>`)
	// with its name and pages before it
	documentIOS     = regexp.MustCompile(`^([^<>]{1,250}) • [^<>•]{1,30} <[^:<>]{2,30}: ([^<>/\\]+\.[A-Za-z0-9]{1,8})>$`)
	attachedAndroid = regexp.MustCompile(`^([^/\\<>:]+\.[A-Za-z0-9]{1,8}) \((?:file attached|archivo adjunto|Datei ` +
		`angehängt|fichier joint|arquivo anexado|ficheiro anexado|file allegato|bestand bijgevoegd|файл ` +
		`добавлен|dosya ekli|添付ファイル|파일 첨부됨)\)`)
)

// deletedMarkers replace a deleted message.
var deletedMarkers = []string{
	"this message was deleted", "you deleted this message", "diese nachricht wurde gelöscht",
	"du hast diese nachricht gelöscht", "se eliminó este mensaje",
	"eliminaste este mensaje", "este mensaje fue eliminado", "ce message a été supprimé", "vous avez supprimé ce " +
		"message",
	"mensagem apagada", "você apagou esta mensagem",
	"esta mensagem foi apagada", "questo messaggio è stato eliminato", "hai eliminato questo messaggio",
	"dit bericht is verwijderd", "u hebt dit bericht verwijderd",
}

// editedSuffix ends a message that was edited.
var editedSuffix = regexp.MustCompile(`[\s\p{Cf}]*<(?:This message was edited|Diese Nachricht wurde bearbeitet\.?|` +
	`Se editó este mensaje\.?|Este mensaje fue editado\.?|Ce message a été modifié|Mensagem editada|Esta mensagem ` +
	`foi editada|Questo messaggio è stato modificato|Dit bericht is bewerkt|Это сообщение ` +
	`изменено)>[\s\p{Cf}]*$`)

// locationPattern is a place that a person shared: a link of a map, with or without the place's name.
var locationPattern = regexp.MustCompile(`(?:^|: )https?://(?:maps\.google\.[a-z.]+|(?:www\.)?google\.[a-z.]+/maps|` +
	`goo\.gl/maps|maps\.app\.goo\.gl|maps\.apple\.com|(?:[a-z]+\.)?foursquare\.com)/\S+$`)

// callPattern matches a call. The phone marks it as a system line in the name of the caller.
var callPattern = regexp.MustCompile(`(?i)^(?:(?:missed|silenced|declined) )?(?:group )?(?:voice|video|audio|phone)` +
	` call\b|^missed (?:group )?call\b|^(?:verpasster )?(?:sprach|video|gruppen)anruf|^(?:videollamada|llamada (?:de ` +
	`voz|perdida|grupal))|^appel (?:vocal|vidéo|manqué|de groupe)|^(?:chamada|ligação) (?:de (?:voz|vídeo)|` +
	`perdida)|^(?:videochiamata|chiamata (?:vocale|persa|di gruppo))|^(?:gemiste )?(?:spraakoproep|video-oproep)`)

// eventPhrases occur in lines that WhatsApp itself wrote.
var eventPhrases = []string{
	"end-to-end encrypted", "ende-zu-ende-verschlüsselt", "cifrados de extremo a extremo", "chiffrés de bout en bout",
	"criptografia de ponta a ponta",
	"crittografati end-to-end", "end-to-end versleuteld", "created group", "created this group", "changed the subject",
	"changed the group", "changed this group", "changed their phone number",
	"security code", "joined using", "were added", "was added", "you added", "you removed", "changed the settings",
	"turned on disappearing", "turned off disappearing",
	"hat die gruppe", "hat den betreff", "hat das gruppenbild", "creó el grupo", "cambió el asunto", "cambió el ícono",
	"a créé le groupe", "a changé", "criou o grupo", "mudou o nome",
}

// nonEventPrefixes start lines that look like system events although a person sent them.
var nonEventPrefixes = []string{"poll:", "umfrage:", "encuesta:", "sondage :", "location:", "standort:", "ubicación:",
	"live location shared"}

func equalsAny(table []string, text string) bool {
	text = strings.ToLower(strings.TrimRight(text, ". "))
	for _, mark := range table {
		if text == mark {
			return true
		}
	}
	return false
}

func containsAny(table []string, text string) bool {
	text = strings.ToLower(text)
	for _, mark := range table {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

func beginsWithAny(table []string, text string) bool {
	text = strings.ToLower(text)
	for _, mark := range table {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return false
}

// exportTitlePattern are how the app names the file of a chat.
var exportTitlePattern = regexp.MustCompile(`(?i)^(?:whatsapp chat with|whatsapp chat -|whatsapp-chat mit|whatsapp ` +
	`chat mit|chat de whatsapp con|chat whatsapp con|chat whatsapp avec|discussion whatsapp avec|conversa do whatsapp ` +
	`com|whatsapp-chat met|чат whatsapp с|чат whatsapp -|whatsapp chat de|whatsapp-chatt med|whatsapp-samtale ` +
	`med) +(.+)$`)

// duplicateSuffix is what a system adds to the name of a file that is there already.
var duplicateSuffix = regexp.MustCompile(`(?: \(\d{1,3}\)| \d{1,2})$`)

// chatTitleOfFile returns the name of a chat from its file name; false when another program named the file.
func chatTitleOfFile(name string) (string, bool) {
	for _, ending := range []string{".txt", ".zip", ".TXT", ".ZIP"} {
		name = strings.TrimSuffix(name, ending)
	}
	if cut := duplicateSuffix.ReplaceAllString(name, ""); strings.HasSuffix(name, ")") && cut != "" {
		name = cut
	}
	name = readableText(name)
	if m := exportTitlePattern.FindStringSubmatch(name); m != nil {
		return strings.TrimSpace(m[1]), true
	}
	return name, false
}

// readableText is a text as one reads it: without marks of direction, every space a space.
func readableText(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case isInvisible(r) || r == 0:
			return -1
		case r == 0x00a0 || r == 0x202f || r == 0x2009 || r == 0x2007:
			return ' '
		}
		return r
	}, text))
}
