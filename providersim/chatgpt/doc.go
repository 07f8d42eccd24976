// Package chatgpt simulates the private web backend of ChatGPT for one account, over real
// HTTP: what a page of the site asks for, and how the site answers. The sign-in is
// [github.com/pdpp-go/pdpp/providersim/signin]; sheet and shapes follow what independent exporters saw.
//
// # Fact sheet
//
// Every call of /backend-api needs the session's cookie and the access token of
// /api/auth/session. 401 bodies are {"detail":{"message","type","param","code":"token_expired"}} for a token
// that ran out and {"error":{"message","code":"invalid_jwt"}} for one that never was. A wall
// answers 403 with HTML. ChatGPT-Account-Id chooses the workspace; without it the personal one is
// listed, without any sign of that.
//
//	GET  conversations?offset&limit&order=updated[&is_archived=true]   newest update first, live; limit over 100 is 422
//	GET  gizmos/snorlax/sidebar?conversations_per_gizmo=0[&cursor]     projects, five to a page
//	GET  gizmos/{g-p-id}/conversations?cursor=0                        {"items","cursor"}; null ends
//	GET  conversation/{id}                                             one, with its tree; times are seconds
//	POST conversations/batch {"conversation_ids":[up to 10]}           an array; may leave ids out; over 10 is 422
//	GET  memories?include_memory_entries=true                  {"memories":[{"id","content","created_at","updated_at"}]}
//	GET  user_system_messages                                          one object
//	GET  gizmos/mine?limit&cursor                                      {"items":[{"resource":{"gizmo":{}}}],"cursor"}
//	GET  shared_conversations?offset&limit&order=created               {"items":[]}
//
// Lists of conversations move while they are read: what is touched goes to the top, what is
// deleted, archived or moved to a project leaves. The total that they announce is not true. Rows of
// deleted conversations may stay for a while; their detail is 404 conversation_not_found, or
// conversation_deleted. Now and then a list leaves one out that is there. Offsets beyond Config.Deep are slow and
// fail now and then.
//
// The detail call has an unannounced bucket of its own: Config.DetailBurst at once, then one
// per Config.DetailEvery; the refusal is a bare 429. The batch call has another one.
//
// Reading changes nothing: no update_time moves by it.
//
// # Simulation
//
// All data follows from [Config]. [ChatGPT.Truth] is what a complete collection stores, in the form
// that the streams declare. [ChatGPT.WriteExport] is the data export of the same account.
package chatgpt
