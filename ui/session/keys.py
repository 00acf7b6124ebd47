"""Every key of the session state and of the widgets, named once.

Belongs here: the strings, by screen. A widget's key is also a CSS class (``.st-key-...``) and what
tests and links ask for, so a string stays as it is even where its constant gets a better name.
Keys that are made of a part and a number have a function. Does not belong here: values.
"""

from __future__ import annotations

# -- the frame of all pages -------------------------------------------------------------------

LARGE_TYPE = "large_type"
LARGE_TYPE_SWITCH = "large_type_switch"
PREPARING = "preparing"
SIZE_SUM = "size_sum"

# -- what a visitor owns ----------------------------------------------------------------------

TRAINED = "trained"  # his tokenizers, newest first
JOB = "job"  # his latest training
ADOPTED = "adopted"  # the training whose result was taken over last
IMPORTED = "imported"  # what he brought in, newest first
KNOWN_NAMES = "known_names"  # well-known tokenizers he is offered beyond the usual ones

# -- the tokenizer picker, and the dialogs that bring one in and take one home ----------------

TOKENIZER = "tokenizer"
TOKENIZER_ABOUT = "tokenizer_about"
TOKENIZER_BUTTONS = "tokenizer_buttons"
PICKER_NEWEST = "tokens_newest"  # the newest training when the picker was last moved to it
PICKER_PROBLEM = "tokens_problem"
PICKER_LAST = "tokens_last"  # what the picker last stood on and could be read

IMPORT_ARRIVED = "import_arrived"  # what was brought in since a page last looked
IMPORT_DOWNLOAD = "import_download"
IMPORT_FILES = "import_files"
IMPORT_NAME = "import_name"
IMPORT_OPEN = "import_open"
IMPORT_TAKE = "import_take"
IMPORT_TAKE_NAME = "import_take_name"
IMPORT_WAY = "import_way"

EXPORT_FORMAT = "export_format"
EXPORT_OBSTACLES = "export_obstacles"
EXPORT_OPEN = "export_open"
EXPORT_PROOF = "export_proof"
EXPORT_PROVE = "export_prove"
EXPORT_ASKED = "prove"  # the export whose comparison was asked for


def import_pattern(files: str) -> str:
    """The pattern of files that hold none."""
    return f"import_pattern_{files}"


def import_specials(files: str) -> str:
    """The special tokens of files that hold none."""
    return f"import_specials_{files}"


def export_download(format_name: str) -> str:
    """The button that saves one format."""
    return f"export_download_{format_name}"


# -- Train ------------------------------------------------------------------------------------

CORPUS_SOURCE = "corpus_source"
CORPUS_TEXT = "corpus_text"
CORPUS_UPLOAD = "corpus_upload"
CORPUS_UPLOAD_TURN = "corpus_upload_turn"  # counts the uploads, so that each has a fresh widget
CORPUS_FILES = "corpus_files"
CORPUS_FILE_TURN = "corpus_file_turn"  # counts the files ever kept
CORPUS_REFUSED = "corpus_refused"

VOCAB_SIZE = "vocab_size"
VOCAB_SIZE_EXACT = "vocab_size_exact"
SETUP_BUTTONS = "setup_buttons"
SPLIT = "split"
PATTERN = "pattern"
CUSTOM_PATTERN = "custom_pattern"
MORE = "more"
SPECIAL_TOKENS = "special_tokens"
TIE_BREAK = "tie_break"
BYTE_ORDER = "byte_order"
MIN_PAIR_COUNT = "min_pair_count"
MAX_TOKEN_BYTES = "max_token_bytes"
HELD_OUT_SHARE = "held_out_share"
SUGGESTED_FOR = "suggested_for"  # the sample whose settings were suggested last
TRAIN = "train"

TRAINING = "training"
STOP = "stop"
STOPPED_JUST_NOW = "stopped_just_now"
MERGE_PLAYER = "merge_player"
TO_VOCABULARY = "to_vocabulary"
DOWNLOADS = "downloads"


def corpus_upload(turn: int) -> str:
    """The widget that takes files; a new one after each upload."""
    return f"corpus_upload_{turn}"


def remove_file(file_id: int) -> str:
    """The button that drops an uploaded file."""
    return f"remove_{file_id}"


def shown_training(newest: str) -> str:
    """Which training is shown; each new training begins with a choice of its own."""
    return f"shown_{newest}"


def download(what: str) -> str:
    """A button that saves the merge log."""
    return f"download_{what}"


# -- Tokens -----------------------------------------------------------------------------------

TOKEN_EDITOR = "token_editor"
TOKEN_CARD = "token_card"
TOKENS_VOCAB = "tokens_vocab"
TOKENS_VOCAB_OF = "tokens_vocab_of"  # the tokenizer that the size belongs to
TOKENS_LINK = "tokens_link"  # the text of the link that was taken over last
TOKENS_NAMED = "tokens_named"  # the tokenizer of that link
TOKENS_PICKED = "tokens_picked"  # the token that was clicked
TOKENS_SHOWN = "tokens_shown"  # the id on the card: that token, or one it was made of
SPECIAL_POLICY = "special_policy"
TOKEN_COLORS = "token_colors"
EXAMPLES = "examples"
DECODE_CARD = "decode_card"
DECODE_IDS = "decode_ids"

# -- Compare ----------------------------------------------------------------------------------

COMPARE_TOKENIZERS = "compare_tokenizers"
COMPARE_SEEN = "_compare_seen"  # the visitor's own tokenizers at the last look
COMPARE_FAILED = "_compare_failed"  # the well-known one that could not be read
COMPARE_PROBLEM = "_compare_problem"
COMPARE_ONLY_ONE = "compare_only_one"

COMPARE_TEXTS = "compare_texts"
COMPARE_TEXTS_OF = "_compare_texts_of"  # the tokenizers that the texts were chosen for
COMPARE_OWN = "compare_own"
COMPARE_UPLOAD = "_compare_upload"
COMPARE_UPLOAD_TURN = "_compare_upload_turn"
COMPARE_REMOVE = "compare_remove"

COMPARE_CARD_CURVES = "compare_card_curves"
COMPARE_CHART = "compare_chart"
COMPARE_SIZE = "compare_size"
COMPARE_MARKS = "compare_marks"
COMPARE_CARD_MEASURES = "compare_card_measures"
COMPARE_MEASURED = "compare_measured"

COMPARE_TEXT = "compare_text"
COMPARE_EXAMPLE = "compare_example"
COMPARE_COLUMNS = "compare_columns"

COMPARE_CARD_LANGUAGES = "compare_card_languages"
COMPARE_LANGUAGE_CHART = "compare_language_chart"
COMPARE_LANGUAGE_TOKENIZER = "compare_language_tokenizer"
COMPARE_LANGUAGE_SIZE = "compare_language_size"


def compare_upload(turn: int) -> str:
    """The widget that takes a text to measure on; a new one after each upload."""
    return f"compare_upload_{turn}"


def compare_card(column: int) -> str:
    """The frame of one column."""
    return f"compare_card_{column}"


def compare_column(column: int) -> str:
    """The tokenizer of one column."""
    return f"compare_column_{column}"


def compare_size(column: int) -> str:
    """The vocabulary size of one column."""
    return f"compare_size_{column}"


def compare_cut(column: int) -> str:
    """The text of one column."""
    return f"compare_cut_{column}"


# -- Vocabulary -------------------------------------------------------------------------------

VOCAB_OF = "vocab_of"  # the tokenizer that the filters belong to
VOCAB_SEARCH = "vocab_search"
VOCAB_WHERE = "vocab_where"
VOCAB_KIND = "vocab_kind"
VOCAB_MORE = "vocab_more"
VOCAB_LENGTH = "vocab_length"
VOCAB_BIRTH = "vocab_birth"
VOCAB_SPECIAL = "vocab_special"
VOCAB_HEALTH = "vocab_health"  # a row of the health table whose tokens are listed
VOCAB_PART_OF = "vocab_part_of"  # an id whose children are listed

VOCAB_HEADING = "vocab_heading"
VOCAB_CLEAR = "vocab_clear"
TOKEN_TABLE = "token_table"
VOCAB_PAGE = "vocab_page"
VOCAB_SORT = "vocab_sort"
VOCAB_COME = "vocab_come"  # changes when the list is to come into view
VOCAB_DOWNLOADS = "vocab_downloads"
VOCAB_JSON_ALL = "vocab_json_all"
VOCAB_JSON_LISTED = "vocab_json_listed"

VOCAB_BIOGRAPHY = "vocab_biography"
VOCAB_CARD = "vocab_card"
TOKEN_LIFE = "token_life"
VOCAB_TOKEN = "vocab_token"  # the id that is open, as it was asked for
VOCAB_TOKEN_OF = "vocab_token_of"  # the tokenizer that it belongs to
VOCAB_LINK = "vocab_link"  # the id that the page's address named last

VOCAB_HEALTH_TABLE = "vocab_health_table"
VOCAB_SCRIPTS_TABLE = "vocab_scripts_table"
VOCAB_OTHER = "vocab_other"
VOCAB_PART = "vocab_part"  # shared, only here or only there
VOCAB_PART_PAGE = "vocab_part_page"
VOCAB_OVERLAP_COUNTS = "vocab_overlap_counts"
VOCAB_OVERLAP_TABLE = "vocab_overlap_table"


def whole_range(key: str) -> str:
    """The two ends that a slider had when it left nothing out."""
    return f"_{key}_whole"
