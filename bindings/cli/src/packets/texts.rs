//! Every sentence that the packet view can say, in one table per language.
//!
//! A further language is a further table: a function from [`T`] to a template, with `{0}`, `{1}` … where values go.
//! Protocol words (method names, members, `request`, `result`) are the same in every language and are not here.

use core::fmt::Display;

/// A language's table. What it does not have is said in English.
pub(crate) type Table = fn(T) -> Option<&'static str>;

/// The template of `key`, filled in.
pub(crate) fn say(table: Table, key: T, values: &[&dyn Display]) -> String {
    let template = table(key).or_else(|| english(key)).unwrap_or("");
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    // One pass: a brace inside a value is the peer's, not ours.
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let value =
            after.split_once('}').and_then(|(n, tail)| Some((values.get(n.parse::<usize>().ok()?)?, tail)));
        match value {
            Some((value, tail)) => {
                text.push_str(&value.to_string());
                rest = tail;
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

macro_rules! texts {
    ($(#[$doc:meta])* $name:ident: $($key:ident $text:literal)*) => {
        /// The key of a sentence.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum T { $($key),* }

        $(#[$doc])*
        pub(crate) fn $name(key: T) -> Option<&'static str> {
            Some(match key { $(T::$key => $text),* })
        }
    };
}

texts! {
    /// The English table: complete.
    english:
    // Requests, client to server.
    AskInitialize "“Here is who I am, the protocol I speak and what I can do for you.” Always first in this era."
    AskDiscover "“What do you speak, and what can you do?” Clients of 2026-07-28 ask this first; an older server refuses it, and then `initialize` follows."
    AskPing "“Are you there?” An empty result must come back promptly."
    AskTools "“What tools do you have?”"
    AskCall "“Run this.”"
    AskCallChecked "“Run this.” The arguments obey the inputSchema of {0} (checked: yes)."
    AskCallBroken "“Run this.” The arguments break the inputSchema of {0}: {1}."
    AskCallUnlisted "“Run this.” No list of tools was seen that has {0}."
    AskCallAgain "“Run this again: here are the answers that you asked for.” A new id, the same call."
    AskResources "“What resources do you have?”"
    AskTemplates "“What patterns of resource addresses do you know?”"
    AskRead "“Give me what is at this address.”"
    AskSubscribe "“Tell me when this resource changes.”"
    AskUnsubscribe "“No longer tell me about this resource.”"
    AskPrompts "“What prompts do you have?”"
    AskPrompt "“Give me this prompt, filled in.”"
    AskComplete "“How might this argument go on?”"
    AskLevel "“From now on send me log messages of this level and above.”"
    AskListen "“Tell me about these changes from now on.” No answer comes while it is open: notifications with this id as their subscriptionId come instead."
    AskTask "“About the task that you run for me …”"
    // Requests, server to client.
    AskSample "“Let your model answer this for me.” The host decides, and may ask its user first."
    AskElicit "“Ask your user this for me.” The user may decline."
    AskRoots "“Which folders may I look at?”"
    AskUnknown "A method that no revision of MCP defines. The answer should be error -32601."
    // Notifications.
    NoteInitialized "“Ready.” It has no id, so nothing will come back: silence here is right."
    NoteCancelled "“I no longer want the answer to {0}.” None may come; silence here is right."
    NoteProgress "“I am getting on with it.” No answer comes to a notification."
    NoteMessage "A log line for the host, sent as a message of the protocol (not on stderr)."
    NoteToolsChanged "“My list of tools has changed.” Whoever cares asks tools/list again."
    NoteResourcesChanged "“My list of resources has changed.” Whoever cares asks again."
    NotePromptsChanged "“My list of prompts has changed.” Whoever cares asks again."
    NoteRootsChanged "“My folders have changed.” Whoever cares asks roots/list again."
    NoteUpdated "“This resource has changed.” Whoever cares reads it again."
    NoteAcknowledged "“I am listening for you.” The first message of a subscription; it names what will really be told."
    NoteElicited "“What the user did at that address is done.”"
    NoteTask "“The task stands so now.”"
    NoteUnknown "A notification that no revision of MCP defines. Whoever does not know it ignores it."
    // Results.
    GotInitialize "“Agreed. {0}” From here both sides keep to what was agreed."
    GotDiscover "“{0}” Nothing is agreed for later: every request says again what it speaks."
    HaveNothing "I offer nothing."
    HaveThese "I have {0}."
    GotPong "“I am here.”"
    GotEmpty "“Done.” There is nothing to say about it."
    GotTools "“{0}.” Name, description and schema are all that a model ever learns about them."
    GotToolsShort "“{0}.”"
    NoTools "No tools"
    OneTool "One tool"
    ManyTools "{0} tools"
    GotCall "“Done.” The tool ran (isError absent = false). A tool that fails says isError: true; a JSON-RPC error means that it never ran."
    GotCallShort "“Done.”"
    GotCallError "“It did not work.” The tool ran and says so itself (isError: true): the model may read why and try again. It is no error of the protocol."
    GotInput "“I need something first.” Not an answer yet: the client gathers what is asked and sends the call again with a new id."
    GotTaskMade "“I have begun; ask me later.” A task, not yet a result."
    GotItems "“{0} {1}.”"
    GotRead "“Here it is.”"
    GotPrompt "“Here is the prompt.”"
    GotSample "“The model says:”"
    GotElicit "“The user says: {0}.”"
    GotListenEnd "“I stop telling you.” The subscription is over."
    GotOther "“Done.”"
    GotUnasked "An answer to something that nobody asked here."
    GotUnjudged "An answer to a request from before the capture began."
    GotLate "An answer to a request that was cancelled. It came too late and is ignored."
    // Errors.
    ErrParse "“That was no JSON.” (-32700)"
    ErrRequest "“That was JSON, but no request.” (-32600)"
    ErrMethod "“I don't know that method.” (-32601) Nothing was done."
    ErrMethodProbe "“I don't know that method.” A server of an older revision: the client goes on with `initialize`."
    ErrParams "“I know the method, but not with these parameters.” (-32602) Nothing was done."
    ErrInternal "“Something broke on my side.” (-32603)"
    ErrResource "“There is no such resource.” (-32002)"
    ErrUrl "“The user must visit an address first.” (-32042)"
    ErrHeader "“Header and body disagree.” (-32020, HTTP only)"
    ErrCapability "“For this you would have to offer me more.” (-32021) `data` says what."
    ErrVersion "“I don't speak that revision.” (-32022) `data` says which ones."
    ErrOther "The request failed with a code of the server's own."
    ErrToolRuns "The tool never ran: a tool that fails says isError: true instead."
    // Batches and junk.
    Batch "{0} messages in one line. Only 2025-03-26 knows this."
    JunkPrint "Not a message: it looks like a print. Does the server print to stdout? It belongs on stderr."
    JunkClient "Not a message: the client wrote something that is not MCP."
    JunkLog "Not a message: it looks like a log line. Logs belong on stderr."
    JunkTrace "Not a message: it looks like a stack trace. Those belong on stderr."
    JunkInstaller "Not a message: an installer talks (npm, npx, uv, pip). Install first, or silence it, so that stdout stays MCP's."
    JunkAnsi "Not a message: text with terminal colours. It belongs on stderr."
    JunkPretty "A message over several lines. Each message is one line: write it without line breaks."
    JunkPiece "A further line of that message."
    JunkLength "`Content-Length:` framing, as language servers use it. MCP does not: one message a line, ended by LF."
    JunkUtf8 "Not a message: the bytes are not UTF-8."
    JunkDeep "Over 128 containers inside each other: refused before it is read."
    JunkCut "A message that is cut off, or spoiled: it starts like JSON and is none."
    JunkScalar "JSON, but no message: a message is an object."
    JunkPrefixed "A message with something before it on the same line. Nobody can read it."
    JunkNonsense "An object with neither method nor result nor error: no message."
    // Members.
    IdNumber "the answer must carry this very id, as a number"
    IdString "the answer must carry this very id, as a string"
    VersionNewest "the newest of those that shake hands; the server may answer with an older one"
    VersionAsked "the server may answer with another one that it speaks"
    VersionSame "same as asked: agreed"
    VersionOther "asked was {0}; the client goes on with this one, or hangs up"
    VersionModern "in every request: nothing is remembered between them"
    CapsNothing "we offer nothing: it must not ask us for input, roots or a model"
    CapsClient "what the server may ask of the client"
    CapsTools "so tools/list and tools/call are allowed; resources/… and prompts/… are not"
    CapsServer "what the client may ask for; the rest is not allowed"
    CapsNone "nothing may be asked for but ping"
    ClientInfo "for people and logs; must not change how the server behaves"
    ServerInfo "for people and logs"
    Instructions "for the model: how to use this server"
    SupportedVersions "the client picks one of these"
    ResultComplete "the answer is whole"
    ResultInput "not done: the client must answer first"
    ResultUnknown "unknown: the client must treat the result as invalid"
    TtlNone "don't keep it"
    Ttl "may be kept for {0}"
    ScopePrivate "only for this user"
    ScopePublic "for everybody"
    Cursor "go on where the last page ended"
    CursorNone "the list is complete"
    CursorMore "there is more: ask again with this cursor"
    ProgressToken "progress may be told under this token"
    LogLevel "log messages of this level and above may come while this runs"
    RequestState "opaque: the client sends it back unread"
    InputAsked "asks for {0}"
    ContentText "{0} characters, {1}, sent as one line with \\n (--full)"
    ContentTextLine "{0} characters, {1}   (--full)"
    OneLine "1 line"
    ManyLines "{0} lines"
    ContentData "{0}, {1} of base64"
    ContentLink "a link; read it with resources/read"
    ContentResource "a resource, in the answer itself"
    ContentUnknown "a kind of content that no revision knows"
    Structured "the same for programs; obeys the tool's outputSchema"
    IsErrorTrue "the tool says that it failed"
    ErrorMessage "for people"
    ErrorData "more about it"
    // State.
    StateAsked "waiting for the server's choice; only `ping` may be sent now"
    StateAgreed "agreed on {0}; the server waits for the client's “ready”"
    StateOpen "open on {0}; both sides may ask what was agreed"
    StateRefused "no session: the handshake was refused"
    StateModern "stateless ({0}): each request stands for itself"
    StateProbe "era not known yet: the answer tells"
    // Summary.
    SummaryOne "1 packet"
    SummaryTotal "{0} packets"
    SummaryAnswered "answered {0} of {1}"
    SummaryFindings "findings {0}"
    StillOpen "{0} was never answered: open for {1} when the capture ended"
    StillOpenNoTime "{0} was never answered"
    StillOpenElsewhere "The server answered {0} meanwhile and reads its stdin: the tool itself is slow or lost."
    StillOpenSilent "Nothing came from the server after it."
    CancelWouldBe "Cancel would be: {0}"
    NotJudged "The capture begins in the middle of a session: rules that need its beginning are not judged."
    Guessed "The file does not say who sent what: it was guessed from methods and ids."
    StderrNote "a server may log here; it is not an error and not part of MCP"
    WireNote "one line, no line break inside, 0a ends it (the layout above is ours)"
    WireNoteShort "one line, 0a ends it"
    Started "Started `{0}`, pid {1}. Three pipes join us: its stdin (we write ▶), its stdout (we read ◀), its stderr (⚠ notes)."
    StartedByOthers "`{0}` was started, pid {1}. Three pipes join it to its client: its stdin (▶), its stdout (◀), its stderr (⚠ notes)."
    Reached "Connected to `{0}`."
    StartedBare "Started `{0}`."
    Exited "the server ended with status {0}"
    ExitedSomehow "the server ended"
    Killed "the server was ended by signal {0}"
    EofC2s "the client closed the server's stdin: nothing more will be asked"
    EofS2c "the server closed its stdout"
    SignalSent "signal {0} was passed on to the server"
    LostReads "{0} reads are missing here: the log could not keep up"
    RefusedBy "Refused by: {0}."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_where_they_belong() {
        assert_eq!(say(english, T::GotItems, &[&3, &"prompts"]), "“3 prompts.”");
        assert_eq!(say(english, T::GotItems, &[&"{1}", &"x"]), "“{1} x.”");
        assert!(say(|_| None, T::GotPong, &[]).contains("here"));
    }
}
