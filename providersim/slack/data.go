package slack

import (
	"fmt"
	"maps"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

type jsonObject = rest.Object

// Streams of the ground truth. The messages of a channel are a collection with its id, the replies to a message one
// with its stamp.
const (
	StreamWorkspace   = "workspace"
	StreamChannels    = "channels"
	StreamUsers       = "users"
	StreamMessages    = "messages"
	StreamFiles       = "files"
	StreamMemberships = "channel_memberships"
	StreamStats       = "channel_stats"
	StreamReadStates  = "dm_read_states"
	StreamGroups      = "user_groups"
	StreamReminders   = "reminders"
	StreamStars       = "stars"
)

const (
	teamID     = "T0AAA"
	ownUser    = "U0001"
	userGroups = "usergroups" // as the API calls them
	// lastReadStamp is how far the person has read each direct message.
	lastReadStamp = "1772359872.123459"
)

var workspace = jsonObject{"id": teamID, "name": "Home", "domain": "home", "email_domain": "",
	"icon": jsonObject{"image_132": "https://example.org/i.png"}}

// stamp is the name of a message with a number that no other message of the workspace has.
func stamp(at time.Time, n int) string { return fmt.Sprintf("%010d.%06d", at.Unix(), n) }

// addRow adds a row with an id of its data.
func (s *Slack) addRow(collection string, data jsonObject) *rest.Row {
	id, _ := data["id"].(string)
	return s.Add(collection, &rest.Row{ID: id, Data: data})
}

func (s *Slack) generateAccount() {
	for i := range max(s.cfg.Users, 1) {
		s.addRow(StreamUsers, jsonObject{"id": fmt.Sprintf("U%04d", i+1), "team_id": teamID,
			"name": fmt.Sprintf("person%d", i+1), "deleted": i%5 == 4, "tz": "Europe/Vienna", "is_bot": false,
			"is_admin": i == 0, "is_owner": false, "is_restricted": false, "is_ultra_restricted": false,
			"updated": 1_770_000_000 + i,
			"profile": jsonObject{"real_name": fmt.Sprintf("Person %d", i+1), "display_name": "",
				"email": fmt.Sprintf("p%d@example.org", i+1), "status_text": "", "image_192": "https://example.org/p.png"}})
	}
	for i := range s.cfg.Channels {
		data := jsonObject{"name": fmt.Sprintf("room-%d", i+1), "is_channel": true, "is_member": i%4 != 3, "is_im": false,
			"is_mpim": false, "is_private": i%2 == 1, "is_archived": i%5 == 4, "creator": ownUser,
			"created": 1_760_000_000 + i, "topic": jsonObject{"value": fmt.Sprintf("topic %d", i+1)},
			"purpose": jsonObject{"value": ""}, "previous_names": []string{}, "num_members": 1 + s.cfg.Users/2}
		if i%6 == 2 {
			data = jsonObject{"is_im": true, "user": "U0002", "created": 1_760_000_000 + i}
		}
		data["id"] = fmt.Sprintf("C%04d", i+1)
		c := s.addRow(StreamChannels, data)
		for n := range s.cfg.Messages {
			at := s.Now().Add(-time.Duration(s.cfg.Messages-n) * 9 * time.Hour)
			m := s.addMessage(c, at)
			for r := range []int{0, 0, 3, 0, 1}[n%5] {
				s.addMessage(m, at.Add(time.Duration(r+1)*time.Minute))
			}
		}
	}
	for range s.cfg.Files {
		s.addFile()
	}
	for i := range 3 {
		at := 1_765_000_000 + i
		s.addRow(userGroups, jsonObject{"id": fmt.Sprintf("S%04d", i+1), "team_id": teamID, "is_usergroup": true,
			"name": fmt.Sprintf("Group %d", i+1), "description": "", "handle": fmt.Sprintf("group%d", i+1), "is_external": false,
			"date_create": at, "date_update": at, "date_delete": 0, "created_by": ownUser, "updated_by": ownUser,
			"users": []string{ownUser}, "user_count": 1,
			"prefs": jsonObject{"channels": []string{"C0001"}, "groups": []string{}}})
		s.addRow(StreamReminders, jsonObject{"id": fmt.Sprintf("Rm%04d", i+1), "creator": ownUser, "user": ownUser,
			"text": fmt.Sprintf("water plant %d", i+1), "recurring": false, "time": at, "complete_ts": 0})
		ts := fmt.Sprintf("%d.000100", at)
		s.addRow(StreamStars, jsonObject{"type": "message", "channel": "C0001", "date_create": at,
			"message": jsonObject{"type": "message", "ts": ts, "text": "keep this"}}).ID = "message:C0001:" + ts
	}
	s.addRow(StreamStars, jsonObject{"type": "file", "date_create": 1_765_000_009,
		"file": jsonObject{"id": "F1"}}).ID = "file:F1"
	s.addRow(StreamStars, jsonObject{"type": "channel", "channel": "C0001",
		"date_create": 1_765_000_010}).ID = "channel:C0001"
}

// members returns who is in a conversation.
func (s *Slack) members() []*rest.Row {
	return rest.Filter(s.Rows[StreamUsers], func(u *rest.Row) bool { return u.N == 0 || u.N%2 == 1 })
}

// sampleMemberCounts notes how many members each conversation has when its list is first requested on a day.
func (s *Slack) sampleMemberCounts() {
	day := s.Now().UTC().Format(time.DateOnly)
	for _, c := range s.Live(StreamChannels) {
		if n, counted := c.Data["num_members"]; counted && s.sampled != day {
			key := c.ID + ":" + day
			s.samples[key] = jsonObject{"id": key, "channel_id": c.ID, "observed_on": day, "member_count": n}
		}
	}
	s.sampled = day
}

// addMessage adds a message to a channel, or a reply to a message.
func (s *Slack) addMessage(to *rest.Row, at time.Time) *rest.Row {
	n := s.NextID()
	data := jsonObject{"type": "message", "user": ownUser, "text": fmt.Sprintf("words &amp; more %d", n),
		"team": teamID, "client_msg_id": fmt.Sprintf("c-%d", n)}
	if n%4 == 0 {
		data["reactions"] = []jsonObject{{"name": "+1", "users": []string{"U0002"}, "count": 3}}
	}
	if n%6 == 0 {
		data["files"] = []jsonObject{{"id": "F1", "mode": "hosted"}}
	}
	switch n % 7 { // messages of programs often have text in only one of these members
	case 1: // the preview of a link
		data["attachments"] = []jsonObject{{"id": 1, "fallback": "Lofts of the north",
			"title": fmt.Sprintf("Loft %d", n), "title_link": "https://lofts.example/1", "text": "of the north"}}
	case 3:
		data["text"], data["username"], data["subtype"], data["bot_id"] = "", "alerts", "bot_message", "B0001"
		data["attachments"] = []jsonObject{{"id": 1, "fallback": "disk full", "title": fmt.Sprintf("Disk %d", n),
			"text": "is full", "fields": []jsonObject{{"title": "Host", "value": "attic", "short": true}}}}
	case 5:
		data["text"], data["bot_id"], data["bot_profile"] = "", "B0002",
			jsonObject{"id": "B0002", "name": "deploys", "app_id": "A1", "team_id": teamID}
		data["blocks"] = []jsonObject{{"type": "section", "block_id": "b1",
			"text": jsonObject{"type": "mrkdwn", "text": fmt.Sprintf("Release %d is out", n)}}}
	}
	return s.Add(to.ID, &rest.Row{ID: stamp(at, n), At: at, Parent: to, Data: data})
}

func (s *Slack) addFile() *rest.Row {
	n := s.NextID()
	f := s.addRow(StreamFiles, jsonObject{"id": fmt.Sprintf("F%05d", n), "name": "picture.png",
		"title": fmt.Sprintf("Picture %d", n), "mimetype": "image/png", "filetype": "png", "pretty_type": "PNG",
		"size": 1000 + n, "created": 1_765_000_000 + n, "user": ownUser, "is_public": false, "is_external": false,
		"mode": "hosted", "permalink": "https://example.org/f", "url_private": "https://example.org/d"})
	f.At = time.Unix(int64(1_765_000_000+n), 0)
	return f
}

// isVisible reports whether a message is served: a deleted one leaves a tombstone while it has replies.
func (s *Slack) isVisible(m *rest.Row) bool { return !m.Gone || len(s.Live(m.ID)) > 0 }

// render returns any row as the API serves it.
func (s *Slack) render(m *rest.Row) jsonObject {
	o := maps.Clone(m.Data)
	if m.Parent == nil {
		return o
	}
	if m.Gone {
		o = jsonObject{"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted.",
			"hidden": true}
	}
	o["ts"] = m.ID
	if m.Parent.Parent != nil {
		o["thread_ts"], o["parent_user_id"] = m.Parent.ID, ownUser
	} else if replies := s.Live(m.ID); len(replies) > 0 {
		o["thread_ts"], o["reply_count"], o["reply_users"], o["latest_reply"] = m.ID, len(replies), []string{ownUser},
			replies[len(replies)-1].ID
	}
	return o
}

// isRead reports whether the person reads a channel.
func isRead(c *rest.Row) bool { return c.Data["is_im"] == true || c.Data["is_member"] == true }

// truth adds everything that exists now and that the person reads. A conversation that the person left keeps its last
// state.
func (s *Slack) truth(add rest.AddTruth) {
	add(StreamWorkspace, teamID, workspace, false)
	for stream, collection := range map[string]string{StreamUsers: StreamUsers, StreamChannels: StreamChannels,
		StreamFiles: StreamFiles, StreamGroups: userGroups, StreamReminders: StreamReminders, StreamStars: StreamStars} {
		for _, x := range s.Rows[collection] {
			add(stream, x.ID, x.Data, x.Gone)
		}
	}
	for _, c := range rest.Filter(s.Rows[StreamChannels], isRead) {
		if c.Data["is_im"] == true {
			add(StreamReadStates, c.ID, jsonObject{"id": c.ID, "user_id": "U0002", "last_read": lastReadStamp}, false)
		} else {
			for _, user := range s.members() {
				key := c.ID + ":" + user.ID
				add(StreamMemberships, key, jsonObject{"id": key, "channel_id": c.ID, "user_id": user.ID}, c.Gone)
			}
		}
		for _, m := range s.Rows[c.ID] {
			for _, x := range append([]*rest.Row{m}, s.Rows[m.ID]...) {
				o := s.render(x)
				o["channel_id"], o["sent_at"] = c.ID, timeOfStamp(x.ID)
				add(StreamMessages, c.ID+":"+x.ID, o, !s.isVisible(x) || !s.isVisible(m))
			}
		}
	}
	for key, o := range s.samples {
		add(StreamStats, key, o, false)
	}
}

// timeOfStamp is when a message was sent.
func timeOfStamp(ts string) string {
	var seconds, micros int64
	if _, err := fmt.Sscanf(ts, "%d.%d", &seconds, &micros); err != nil {
		return ""
	}
	return time.Unix(seconds, micros*1000).UTC().Format("2006-01-02T15:04:05.000000Z")
}
