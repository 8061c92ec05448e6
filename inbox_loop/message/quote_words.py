"""The words by which mail programs announce a quote or a forwarded mail, in the languages they speak.

Lives here: tables alone, all in the form that ``str.casefold`` gives. They stand beside what the libraries know
(``quote_attribution.py``), which have no names for these roles, or not in all of the languages.
"""

from __future__ import annotations

from enum import Enum, auto


class Role(Enum):
    """What a header names in the block of headers above a quote."""

    FROM = auto()
    DATE = auto()
    TO = auto()
    SUBJECT = auto()
    OTHER = auto()


_NAMES = {
    Role.FROM: "from, von, de, da, van, fra, från, od, от, от кого, lähettäjä, kimden, feladó, від, absender, mittente,"
    " expéditeur, remitente, remetente, avsender, nadawca, 差出人, 送信者, 发件人, 寄件者, 寄件人, 보낸 사람, 보낸사람",
    Role.DATE: "date, sent, datum, gesendet, envoyé, envoyé le, date d'envoi, enviado, enviado el, enviado em, fecha,"
    " enviada em, inviato, data, verzonden, sendt, dato, skickat, lähetetty, päivämäärä, päiväys, wysłano, odesláno,"
    " отправлено, дата, gönderildi, tarih, elküldve, 送信日時, 日時, 日付, 发送时间, 發送時間, 寄件日期, 日期,"
    " 发送日期, 보낸 날짜, 보낸날짜, 날짜",
    Role.TO: "to, an, à, a, para, aan, til, till, do, komu, кому, vastaanottaja, kime, címzett, pour, destinataire,"
    " destinatario, destinatário, empfänger, 宛先, 收件人, 收件者, 받는 사람, 받는사람",
    Role.SUBJECT: "subject, betreff, objet, sujet, asunto, oggetto, assunto, onderwerp, emne, ämne, aihe, temat, konu,"
    " předmět, тема, tárgy, 件名, 主题, 主題, 主旨, 제목",
    Role.OTHER: "cc, bcc, kopie, kopia, kopi, kopio, copie, copia, cópia, dw, udw, копия, 抄送, 副本, 참조, reply-to,"
    " antwort an, importance, wichtigkeit, priorität, organization, organisation, attachments, anlagen, allegati,"
    " bijlagen, pièces jointes, vedhæftede filer",
}
HEADER_NAMES = {name.strip().casefold(): role for role, names in _NAMES.items() for name in names.split(",")}
"""What a name at the start of a line stands for, without its colon."""

VERBS = tuple(
    word.casefold()
    for word in (
        *("wrote", "writes", "schrieb", "a écrit", "escribió", "escreveu", "ha scritto", "schreef", "geschreven"),
        *(
            "skrev",
            "kirjoitti",
            "napsal",
            "napisał",
            "pisze",
            "написал",
            "пишет",
            "писал",
            "写道",
            "寫道",
            "作成",
            "작성",
        ),
    )
)
"""What is said of the sender in the line that announces a quote."""

FORWARDED = frozenset(
    words.casefold()
    for words in (
        "Forwarded message",
        "Begin forwarded message",
        "Weitergeleitete Nachricht",
        "Anfang der weitergeleiteten Nachricht",
        "Anfang der weitergeleiteten E-Mail",
        "Message transféré",
        "Début du message transféré",
        "Début du message réexpédié",
        "Mensaje reenviado",
        "Inicio del mensaje reenviado",
        "Messaggio inoltrato",
        "Inizio messaggio inoltrato",
        "Mensagem encaminhada",
        "Mensagem reencaminhada",
        "Início da mensagem encaminhada",
        "Doorgestuurd bericht",
        "Begin doorgestuurd bericht",
        "Videresendt besked",
        "Videresendt meddelelse",
        "Start på videresendt besked",
        "Videresendt melding",
        "Start på videresendt melding",
        "Vidarebefordrat meddelande",
        "Vidarebefordrat brev",
        "Välitetty viesti",
        "Edelleenlähetetty viesti",
        "Przekazana wiadomość",
        "Wiadomość przekazana dalej",
        "Přeposlaná zpráva",
        "Пересылаемое сообщение",
        "Перенаправленное сообщение",
        "Начало переадресованного сообщения",
        "転送メッセージ",
        "転送されたメッセージ",
        "전달된 메시지",
        "转发的邮件",
        "转发邮件",
        "轉寄的郵件",
    )
)
"""What stands above a forwarded mail, between dashes or before a colon."""

ORIGINAL = frozenset(
    words.casefold()
    for words in (
        "Original message",
        "Original appointment",
        "Ursprüngliche Nachricht",
        "Originalnachricht",
        "Ursprünglicher Termin",
        "Message d'origine",
        "Message original",
        "Mensaje original",
        "Messaggio originale",
        "Mensagem original",
        "Oorspronkelijk bericht",
        "Origineel bericht",
        "Oprindelig meddelelse",
        "Oprindelig besked",
        "Opprinnelig melding",
        "Ursprungligt meddelande",
        "Originalmeddelande",
        "Alkuperäinen viesti",
        "Wiadomość oryginalna",
        "Oryginalna wiadomość",
        "Původní zpráva",
        "Исходное сообщение",
        "Оригинальное сообщение",
        "元のメッセージ",
        "원본 메시지",
        "원본 메일",
        "原始邮件",
        "邮件原件",
        "原始郵件",
    )
)
"""What stands above the mail that is answered, between dashes."""

SENT_FROM = (
    *("sent from outlook", "sent via", "outlook für", "holen sie sich outlook", "envoyé de mon", "envoyé à partir"),
    *("télécharger outlook", "obtenez outlook", "obtener outlook", "enviado desde outlook", "enviado do meu"),
    *("obter o outlook", "scarica outlook", "ottieni outlook", "outlook voor", "download outlook", "hämta outlook"),
    *("lähetetty", "отправлено \u0441", "отправлено из", "iphoneから送信", "나의 iphone", "发自我的", "從我的"),
)
"""How mail programs begin their own signature, beside what the library knows."""

POINTS_BELOW = (
    *("below", "beneath", "underneath", "inline", "in-line", "in red", "in blue", "in green"),
    *("unten", "untenstehend", "untenstehende", "untenstehenden", "in rot", "in blau", "in grün"),
    *(
        "ci-dessous",
        "en rouge",
        "en bleu",
        "más abajo",
        "abajo",
        "en rojo",
        "en azul",
        "di seguito",
        "in rosso",
        "in blu",
    ),
    *("abaixo", "a vermelho", "em vermelho", "hieronder", "onderstaand", "onderstaande", "in het rood", "in het blauw"),
    *("nedenfor", "nedenstående", "med rødt", "nedan", "nedanstående", "med rött", "alla olevaan", "alapuolella"),
    *(
        "my answers",
        "my comments",
        "see answers",
        "see comments",
        "comments in",
        "answers in",
        "in the text",
        "in bold",
    ),
    *(
        "in caps",
        "in orange",
        "this request",
        "this one",
        "see thread",
        "the thread",
        "fyi",
        "handle this",
        "take over",
    ),
    *(
        "im text",
        "meine antworten",
        "meine anmerkungen",
        "meine kommentare",
        "dazwischen",
        "farbig",
        "fett",
        "zur info",
    ),
    *(
        "zur info",
        "z.k.",
        "zur kenntnis",
        "diese anfrage",
        "übernehmen",
        "dans le texte",
        "mes réponses",
        "pour info",
        "en gras",
    ),
    *("en el texto", "mis respuestas", "en negrita", "nel testo", "le mie risposte", "in grassetto", "in de tekst"),
    *("mijn antwoorden", "ter info", "no texto", "minhas respostas"),
    *("poniżej", "níže", "ниже", "красным", "下記", "아래", "下面"),
)
"""Words of a sender who wrote into the quote, or asks about what stands in it."""

FORWARD_PREFIXES = frozenset(
    (
        *("fwd", "fw", "wg", "tr", "rv", "i", "enc", "vb", "vs", "vl", "pd", "doorst", "ilt", "továbbítás"),
        *("転送", "转发", "轉寄", "전달"),
    )
)
"""At the start of a subject. Finnish answers with VS what Danish forwards with it; if in doubt, it is forwarded."""

ANSWER_PREFIXES = frozenset(
    (
        *("re", "aw", "antw", "antwort", "r", "res", "rif", "sv", "odp", "rép", "ynt", "vá"),
        *("ответ", "回复", "答复", "回覆", "답장", "返信"),
    )
)
"""At the start of a subject."""
