"""Sentences that the platform stores and raises in English, for models and logs, in the language of whoever reads them."""

import re
from functools import cache

from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_noop as _

# Every sentence of notes and refusals that a person comes to see, as it stands where it is written. {0}, {1} are what is
# put in there; it is put into the translation as it is, or translated if it is a piece of language itself. A test compares
# this list with the code.
SENTENCES = (
    _("Stopped by {0}."),
    _("The turn worked longer than {0} minutes."),
    _("{0} was called with the same arguments more than {1} times."),
    _("The model sent unusable tool calls {0} times in a row."),
    _("This assistant was switched off or deleted before it could answer. The message is kept."),
    _("The server stopped three times at this very step. It will not be tried again by itself."),
    _("The limit of {0} steps for one turn was reached. What was found so far is kept."),
    _("The reply was cut at its length limit."),
    _("The model sent an empty reply; asking once more."),
    _("The model answered with nothing, three times."),
    _("The model only thought and wrote no answer. Its thoughts are kept."),
    _("It waits until other calls of this request have said what they used: together they could use too much."),
    _("It was cut off: the token budget of the whole request is used up."),
    _("The budget of this turn, {0} tokens, is used up. What was found so far is kept."),
    _("It was cut off: it gave no sign of life for {0} seconds."),
    _("It was cut off: it worked for longer than {0} seconds."),
    _("The {0} budget {1}, {2} tokens, is used up. The work is kept, and goes on at once if an admin raises the budget."),
    _("daily"),
    _("weekly"),
    _("monthly"),
    _("of the team"),
    _("of your group"),
    _("that you have"),
    _("of this assistant"),
    _("{0} takes no more requests for the moment."),
    _("The quota or credit at {0} is used up."),
    _("{0} has a fault and cannot answer for the moment."),
    _("{0} cannot be reached."),
    _("{0} does not accept the key."),
    _("{0} does not know the model {1}."),
    _("{0} refused the request."),
    _("{0} refused the request (HTTP {1})."),
    _("{0} refused the request: {1}"),
    _("This conversation is longer than the model can read at once."),
    _("The model's answer broke off before it was finished."),
    _("The model did not begin to answer within {0} seconds."),
    _("The model stopped in the middle of its answer and said nothing for {0} seconds."),
    _("The model needed more than {0} seconds for its answer."),
    _("The stored key of profile “{0}” can't be read: the site's secret key has changed. Enter the key again in the profile."),
    _(
        "The built-in engine answers: rules and search, no language model. It asks back, delegates and quotes your "
        "documents, but it knows nothing else and writes nothing of its own."
    ),
    _(
        "The built-in engine answers: rules and search, no language model. It asks back, delegates and quotes your "
        "documents, but it knows nothing else and writes nothing of its own. {0}"
    ),
    _(
        "To connect a language model, add a profile in the admin pages, or start the server with OPENAI_API_KEY or"
        " ANTHROPIC_API_KEY set, or with a local model server running."
    ),
    _("A scripted model answers ({0}): it follows a script and understands nothing."),
    _("{0} answers, from the model server at {1}."),
    _("{0} answers, from {1}."),
    _("A language model answers."),
    _("The model can't be reached as it is set up. An admin of the team can mend that."),
    _("The message is empty."),
    _("Write something first."),
    _("The message is longer than {0} KB. It was not sent, and your text was kept."),
    _("Shorten it, or put the text into a document folder."),
    _("This assistant is switched off or was deleted. Your text was kept."),
    _("Choose another assistant, or ask an admin."),
    _("{0} messages wait already. This one was not sent, and your text was kept."),
    _("Wait for an answer, or take a waiting message back."),
    _("This conversation is being answered right now."),
    _("Wait for the answer or stop it first."),
    _("There is nothing to answer again here."),
    _("Send a message."),
    _("This message is not waiting any more: it was sent or taken back."),
    _("Look at the conversation."),
    _("Nothing was asked here yet."),
    _("Write a message first."),
    _("Only a message that was written and sent can be worded anew."),
    _("Write a new message."),
    _("This message stands on no branch."),
    _("Choose another message."),
    _("This is not a question that can be answered."),
    _("“{0}” is not one of the options."),
    _("Choose from the options that are shown."),
    _("This question takes only its options."),
    _("Choose an option."),
    _("The answer is longer than 4000 characters."),
    _("Shorten it."),
    _("Nothing is chosen yet."),
    _("Tick an option or write an answer."),
    _("The conversation went on without an answer to this question."),
    _("Write a message, or go back to the branch that ends with the question."),
    _("This question was answered already."),
    _("Reload to see the answer."),
    _("This call does not wait for an approval any more."),
    _("Reload to see what became of it."),
    _("These are not the arguments that this call has now."),
    _("Reload, read them again, and decide then."),
    _("These are more than {0} characters."),
    _("Shorten them."),
    _("This call needs no decision."),
    _("This plan does not wait for an approval any more."),
    _("The plan is not the one any more that you have before your eyes."),
    _("Reload, read it again, and decide then."),
    _("This is not a plan."),
    _("No step is left."),
    _("Keep a step, or reject the plan."),
    _("A plan has at most {0} steps."),
    _("Take some out."),
    _("This conversation has no parent to send a result to."),
    _("There is no finished result in this sub-chat yet."),
    _("Wait for its answer, or ask it something."),
    _("A sub-chat can't be deleted alone: its parent's answer rests on it."),
    _("Delete the conversation it belongs to."),
    _("Nobody of this name belongs to your team."),
    _("Enter the sign-in name of a member."),
    _("This conversation is yours."),
    _("Enter somebody else's name."),
    _("A sub-chat is read by whoever may read the conversation it belongs to."),
    _("Share that conversation."),
    _("A sub-chat stays where the conversation is that it belongs to."),
    _("Do this with that conversation."),
    _("The title is empty."),
    _("Write a title."),
    _("The title is longer than {0} characters."),
    _("That is enough for now: visitors may send only so many messages in an hour. Your text was kept."),
    _("Wait {0} minutes, or sign in."),
    _("You may read this conversation but not change it."),
    _("Ask its owner, or start a conversation of your own."),
    _("Too many attempts to sign in failed. Nothing was tried this time."),
    _("Wait {0} minute, or ask an admin for a new password."),
    _("Wait {0} minutes, or ask an admin for a new password."),
    _("Put it right and send again."),
    _("You are not signed in. Your text was kept."),
    _("Sign in."),
    _("This can't be reached any more: it was deleted, or is no longer shared with you."),
    _("Go back to the conversations."),
    _("The store is busy. Your text was kept."),
    _("Try again in a moment."),
    _("not a regular file"),
    _("can't be read"),
    _("a folder that programs fill"),
    _("more than {0} folders deep"),
    _("more than {0} files"),
    _("a link that leads out of the folder or nowhere"),
    _("its path is too long"),
    _("its name is not plain text"),
    _("its name is too long for the mirror"),
    _("not a kind of file that is read"),
    _("not text"),
    _("larger than {0} MB"),
    _("not a Word document"),
    _("not a presentation"),
    _("not an e-mail"),
    _("not a spreadsheet, or damaged"),
    _("not a PDF file, or damaged"),
    _("not a file of its kind, or damaged or protected by a password"),
    _("protected by a password"),
    _("damaged"),
    _("damaged ({0})"),
    _("damaged, or protected by a password"),
    _("damaged: its text is not well-formed"),
    _("damaged: sheet {0}"),
    _("{0} of {1} pages are damaged"),
    _("declares entities of its own"),
    _("unpacks to more than {0} MB"),
    _("needs more than {0} MB of memory"),
    _("nested too deeply"),
    _("takes too long to read"),
    _("too much for its reader, which broke off"),
    _("holds no text"),
    _("holds no text, perhaps only pictures of it"),
    _("holds no values"),
    _("the rest was not read: it is too long"),
    _("The folder “{0}” does not exist or can't be read by this server."),
    _("Enter the absolute path of a folder that this server may read."),
    _("The folder “{0}” leads to another place than when it was set up."),
    _("Put it back, or enter the path of the new folder itself."),
    _("The pass broke off ({0}). The log says where."),
    _("The path has to start at the root of the server's file system."),
    _("There is no such folder on this server."),
    _("This folder holds the site's own database and secret key."),
    _("This folder is one of the site's own data."),
    _("Enter the absolute path of a folder of documents."),
)


def spoken(text: str) -> str:
    """The text in the reader's language if it is one of the sentences, or several of them; else as it is."""
    if not text or get_language() in (None, "en"):
        return text
    if (whole := _spoken(text)) != text:
        return whole
    # A sentence and what to do about it are stored as one text.
    parts = re.split(r"(?<=[.!?:]) (?=[A-ZÄÖÜ“])", text)
    return " ".join(map(_spoken, parts))


def _spoken(text: str) -> str:
    if (known := gettext(text)) != text:
        return known
    for pattern, sentence in _patterns():
        if found := pattern.fullmatch(text):
            return gettext(sentence).format(*(gettext(part) if part else part for part in found.groups()))
    return text


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Those with places to fill, the longest first, so that the most exact one is found."""
    filled = sorted((each for each in SENTENCES if "{0}" in each), key=len, reverse=True)
    return [(re.compile(re.sub(r"\\{\d\\}", "(.+?)", re.escape(each)), re.DOTALL), each) for each in filled]
