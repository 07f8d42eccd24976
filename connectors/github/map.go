package github

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// The wire types name what is read of GitHub's answers, the record types what the
// manifest's schemas describe. A pointer is a member that may be null or absent;
// it is then absent from the record.

type wireUser struct {
	ID        int64   `json:"id"`
	Login     string  `json:"login"`
	Name      *string `json:"name"`
	Email     *string `json:"email"`
	Bio       *string `json:"bio"`
	Company   *string `json:"company"`
	Location  *string `json:"location"`
	Blog      *string `json:"blog"`
	Twitter   *string `json:"twitter_username"`
	CreatedAt *string `json:"created_at"`
	UpdatedAt string  `json:"updated_at"`
	AvatarURL *string `json:"avatar_url"`
	Plan      *struct {
		Name *string `json:"name"`
	} `json:"plan"`

	userExtras
	userFigures
}

// userExtras are called the same by GitHub and in the record.
type userExtras struct {
	HTMLURL           *string `json:"html_url,omitzero"`
	NotificationEmail *string `json:"notification_email,omitzero"`
	Hireable          *bool   `json:"hireable,omitzero"`
	TwoFactor         *bool   `json:"two_factor_authentication,omitzero"`
}

// userFigures are those of a day. A token without read:user has no private ones.
type userFigures struct {
	PublicRepos       *int64 `json:"public_repos,omitzero"`
	PublicGists       *int64 `json:"public_gists,omitzero"`
	Followers         *int64 `json:"followers,omitzero"`
	Following         *int64 `json:"following,omitzero"`
	PrivateGists      *int64 `json:"private_gists,omitzero"`
	TotalPrivateRepos *int64 `json:"total_private_repos,omitzero"`
	OwnedPrivateRepos *int64 `json:"owned_private_repos,omitzero"`
	DiskUsage         *int64 `json:"disk_usage,omitzero"`
	Collaborators     *int64 `json:"collaborators,omitzero"`
}

type userRecord struct {
	ID        string  `json:"id"`
	Login     string  `json:"login"`
	Name      *string `json:"name,omitzero"`
	Email     *string `json:"email,omitzero"`
	Bio       *string `json:"bio,omitzero"`
	Company   *string `json:"company,omitzero"`
	Location  *string `json:"location,omitzero"`
	Blog      *string `json:"blog,omitzero"`
	Twitter   *string `json:"twitter_username,omitzero"`
	CreatedAt *string `json:"created_at,omitzero"`
	UpdatedAt string  `json:"updated_at,omitzero"`
	AvatarURL *string `json:"avatar_url,omitzero"`
	PlanName  *string `json:"plan_name,omitzero"`
	userExtras
}

func (u wireUser) record() userRecord {
	out := userRecord{
		ID: ident(u.ID), Login: u.Login, Name: u.Name, Email: u.Email, Bio: u.Bio, Company: u.Company, Location: u.Location,
		Blog: u.Blog, Twitter: u.Twitter, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt, AvatarURL: u.AvatarURL,
		userExtras: u.userExtras,
	}
	if u.Plan != nil {
		out.PlanName = u.Plan.Name
	}
	return out
}

type userStatsRecord struct {
	ID         string `json:"id"`
	UserID     string `json:"user_id"`
	ObservedOn string `json:"observed_on"`
	userFigures
}

func (u wireUser) stats(day string) userStatsRecord {
	return userStatsRecord{ID: ident(u.ID) + ":" + day, UserID: ident(u.ID), ObservedOn: day, userFigures: u.userFigures}
}

type wireActor struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

func (a *wireActor) login() string {
	if a == nil {
		return ""
	}
	return a.Login
}

// ident spells a number as an id; zero, which GitHub never gives, is none.
func ident(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

func decode(raw jsontext.Value, into any) error { return json.Unmarshal(raw, into) }

// unreadable declares a thing that could not be decoded, by its id if that can be
// read at least.
func unreadable(raw jsontext.Value, err error) connectorkit.Record {
	return connectorkit.Unreadable(idOf(raw), err)
}

func idOf(raw jsontext.Value) string {
	var numbered struct {
		ID jsontext.Value `json:"id"`
	}
	if json.Unmarshal(raw, &numbered) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(numbered.ID, &text) == nil {
		return text
	}
	var number int64
	if json.Unmarshal(numbered.ID, &number) == nil {
		return ident(number)
	}
	return ""
}
