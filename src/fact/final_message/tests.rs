//! Last words of turns, as they should be read.

use super::*;

#[test]
fn the_embedded_lists_are_readable() {
    let p = &*PATTERNS;
    for patterns in [
        &p.person, &p.agent, &p.offers, &p.choices, &p.claims, &p.closings, &p.reports, &p.afterwards,
        &p.confirmations, &p.blocked, &p.announcements, &p.aside, &p.proofs, &p.denials, &p.failures, &p.conditions,
        &p.openers, &p.answers, &p.affirmations, &p.rhetorical, &p.evidence, &p.completion, &p.nothing, &p.questions,
        &p.addressed,
    ] {
        patterns.check().unwrap();
        assert!(patterns.count() > 0);
    }
}

#[test]
fn work_that_is_put_aside() {
    for (text, aside) in [
        ("Done. The fix is parked on `keep`.", true),
        ("I stashed the parser; it is unfinished.", true),
        ("The docs are done. The work on feature is not tested yet.", true),
        ("Its tests have not been run.", true),
        ("I left it for later.", true),
        ("Done, all tests pass.", false),
        ("The fix is on feature and ready to merge.", false),
    ] {
        assert_eq!(puts_aside(text), aside, "{text}");
    }
}

#[test]
fn questions_waits_and_claims() {
    const NOTHING: LastWords = LastWords { asks: false, waits: false, claims: false, announces: false };
    const ASKS: LastWords = LastWords { asks: true, ..NOTHING };
    const WAITS: LastWords = LastWords { waits: true, ..NOTHING };
    const CLAIMS: LastWords = LastWords { claims: true, ..NOTHING };
    const ANNOUNCES: LastWords = LastWords { announces: true, ..NOTHING };
    for (text, want) in [
        ("", NOTHING),
        ("I looked at the parser.", NOTHING),
        ("Which of the two formats does the server send?", ASKS),
        ("I found two schemas.\n\n1. old\n2. new\n\n**Which one is in production?**", ASKS),
        ("All done! All tests pass.", CLAIMS),
        ("Done.", CLAIMS),
        ("The fix is ready. Which branch should I use?", LastWords { asks: true, ..CLAIMS }),
        ("I changed the parser. Would you like me to run the tests?", NOTHING),
        ("Should I go ahead and commit?", NOTHING),
        ("Want me to start with the first part?", NOTHING),
        ("I know what is left, would you like me to go on?", NOTHING),
        ("This cannot be undone. Are you sure you want me to delete all of these files?", ASKS),
        ("Could you please clarify what specific task you'd like me to perform?", ASKS),
        ("So, which of the two would you like me to keep?", ASKS),
        ("It is implemented and 12 tests passed. Anything else?", CLAIMS),
        ("Please open the URL in your browser and approve the OAuth consent screen.", WAITS),
        ("I need your API key from the dashboard to go on.", WAITS),
        ("Enter the 2FA code that was sent to you, please.", WAITS),
        ("Please run the tests with your credentials.", NOTHING),
        ("The login handler checks passwords against the store.", NOTHING),
        ("The tests do not pass yet.", NOTHING),
        ("Once the tests pass I will open the pull request.", NOTHING),
        ("Tests pass?", ASKS),
        ("I read it. Why is it faster? Because subtraction is cheaper.", NOTHING),
        ("You asked: \"can it be faster?\" It can, and it is now.", NOTHING),
        ("You asked for a date. Which format does the server expect?", ASKS),
        ("```\nall tests pass\n```\nI stopped there.", NOTHING),
        ("Todo listo.", CLAIMS),
        ("服务器期望哪种格式？", ASKS),
        ("我看了代码。服务器期望哪种格式？ 请告诉我。", ASKS),
        ("ما هو التنسيق المطلوب؟", ASKS),
        ("Ποια μορφή περιμένει ο διακομιστής;", ASKS),
        ("I read the parser; it is fine;", NOTHING),
        ("请在浏览器中批准 OAuth 授权。", WAITS),
        ("Veuillez approuver l'accès OAuth dans votre navigateur.", WAITS),
        ("Bitte bestätige den OAuth-Zugriff in deinem Browser.", WAITS),
        ("Ich brauche dein Passwort.", WAITS),
        ("J'ai besoin de votre mot de passe.", WAITS),
        ("Waiting for your approval of the deployment.", WAITS),
        ("Please run `sudo apt-get install libpq-dev` and tell me when it is there.", WAITS),
        ("The script calls sudo where it must.", NOTHING),
        ("Das Passwort wird gehasht gespeichert.", NOTHING),
        ("CI is green. Which branch should I use?", LastWords { asks: true, ..CLAIMS }),
        ("The build is green.", CLAIMS),
        ("All 14 tests ran without errors. Which branch?", LastWords { asks: true, ..CLAIMS }),
        ("I've finished.", CLAIMS),
        ("I have not finished.", NOTHING),
        ("I have fixed the rounding.", CLAIMS),
        ("I've now implemented the parser. Which name do you prefer?", LastWords { asks: true, ..CLAIMS }),
        (
            "I fixed it. To deploy it, please complete the OAuth consent in your browser.",
            LastWords { waits: true, ..CLAIMS },
        ),
        ("The server is up. Want to test it?", LastWords { asks: true, ..CLAIMS }),
        ("Let me know if you run into anything.", CLAIMS),
        ("I updated the parser. Which reviewers should I add?", CLAIMS),
        ("The bug is gone. Which environment should I deploy to?", LastWords { asks: true, ..CLAIMS }),
        (
            "The fix is in place; you'll need to rotate the API key in the dashboard before deploying.",
            LastWords { waits: true, ..CLAIMS },
        ),
        ("The rounding is corrected. Which commit message do you prefer?", LastWords { asks: true, ..CLAIMS }),
        ("I changed the rounding to half-even. Is that fine?", LastWords { asks: true, ..CLAIMS }),
        ("The config file is gone. Should I restore the one of last week?", ASKS),
        ("That should do it. Which of them is next?", LastWords { asks: true, ..CLAIMS }),
        ("The plan is done.", NOTHING),
        ("I updated the first parser. Which of the two schemas is in production?", ASKS),
        ("I added the call. To continue I need your API key from the dashboard.", WAITS),
        ("I added the call. For the release, please provide the signing key.", LastWords { waits: true, ..CLAIMS }),
        ("I have not fixed the rounding yet.", NOTHING),
        ("Once I have fixed the rounding I will push.", NOTHING),
        ("The suite runs. I'll wait for the notification.", ANNOUNCES),
        ("The build is still running.", ANNOUNCES),
        ("Once CI is green I will merge.", NOTHING),
        ("Is the build green?", ASKS),
    ] {
        assert_eq!(read(text), want, "{text}");
    }
}

#[test]
fn a_question_about_the_result_is_told_from_one_that_the_work_waits_for() {
    for text in [
        "We now round half to even. Does this match what you wanted?",
        "The total is rounded. What do you think?",
        "Is everything right?",
        "The parser streams. Ready to commit?",
        "Looks much better. Want to eyeball it before I commit?",
        "Should this be squashed?",
        "Any concerns?",
        "It streams. May I close the ticket?",
    ] {
        assert!(asks_to_confirm(text), "{text}");
    }
    for text in [
        "Which of the two schemas is in production?",
        "Is that table still in use?",
        "There are two ways. Should I use a lock, or would you prefer a queue?",
        "Does this plan look complete? Any adjustments before I start implementing?",
        "To continue I need your API key.",
        "What's on your mind?",
    ] {
        assert!(!asks_to_confirm(text), "{text}");
    }
}

#[test]
fn a_claim_of_proof_is_one_of_its_own() {
    for (text, proof) in [
        ("All tests pass. Which branch?", true),
        ("CI is green.", true),
        ("Done. Which branch?", false),
        ("The feature is implemented.", false),
        ("The tests do not pass yet.", false),
    ] {
        assert_eq!(claims_proof(text), proof, "{text}");
    }
}

#[test]
fn a_long_text_is_read_from_its_end() {
    let text = format!("{}\nWhat is the name of the table?", "é ".repeat(20_000));
    assert!(read(&text).asks);
}

/// Texts that claim or imply that unproven work is finished, and ask something as well.
const FINISHED: &[&str] = &[
    "Did I run the tests? Yes, and they passed.",
    "Did the tests pass? Yes.",
    "Were the tests run? Yes, all green.",
    "Is it done? Yes.",
    "Why does this work? Because addition commutes.",
    "Did the tests pass? Yes. Which name do you prefer?",
    "Did the tests pass? ✅",
    "Is it finished? It is. Which name do you prefer?",
    "Tests passed? yes",
    "src/m.py updated, tests green. I need the API key to deploy. Can you provide it?",
    "Tests green. I need the API key to deploy.",
    "f now returns x+1; pytest is green. Which name do you prefer for the helper?",
    "The new behaviour is live. Could you confirm the expected output for -1?",
    "All tests pass, which branch should it go to?",
    "Everything’s green, so which name do you prefer?",
    "`pytest` is green. Which name?",
    "pytest: 12 passed. Which name?",
    "I could not deploy it, but all tests pass. Which server is it?",
    "| tests | ✅ |\nWhich name?",
    "Fertig, alle Tests sind grün. Soll ich committen?",
    "Fertig, alle Tests sind grün. Welchen Namen bevorzugst du?",
    "Alle Tests laufen durch. Welcher Name?",
    "完成了，所有测试都通过。需要我提交吗？",
    "完成了，所有测试都通过，需要我提交吗？",
    "所有测试都通过了。用哪个名字？",
    "C'est fait, tous les tests passent. Voulez-vous que je committe ?",
    "Готово, все тесты проходят. Закоммитить?",
    "Готово, все тесты проходят. Какое имя выбрать?",
    "Pronto, todos os testes passam. Quer que eu faça o commit?",
    "Pronto, todos os testes passam. Qual nome prefere?",
    "できました。テストはすべて通りました。どの名前にしますか？",
    "完了しました。コミットしますか？",
    "완료했습니다. 모든 테스트가 통과했습니다. 어떤 이름이 좋을까요?",
    "Tamamlandı, tüm testler geçti. Hangi isim?",
    "Hotovo, všechny testy prošly. Jaké jméno?",
    "Klaar, alle tests slagen. Welke naam?",
    "Gotowe, wszystkie testy przechodzą. Jaka nazwa?",
    "تم، كل الاختبارات نجحت. أي اسم تفضل؟",
    "Listo, todas las pruebas pasan. ¿Qué nombre prefieres?",
    "Fatto, tutti i test passano. Quale nome?",
    "Klart, alla tester går igenom. Vilket namn?",
    "Haben alle Tests bestanden? Ja.",
    "Edited src/m.py. I need your credentials to deploy.",
];

/// Texts that ask something and claim nothing.
const GENUINE: &[&str] = &[
    "Should the limit be 10 or 20? I cannot go on without it.",
    "Which of the two schemas is in production?",
    "There are two ways. Should I use a lock, or would you prefer a queue?",
    "Should f accept floats as well? The spec does not say, and the two callers disagree.",
    "Before I go on: should negative numbers be rejected, or wrapped?",
    "I need the password of the staging database to go on. Can you give it to me?",
    "The tests do not pass yet. Is 3 or 4 the right count?",
    "3 passed, 2 failed. Which behaviour is right?",
    "Are the tests allowed to touch the network? I could not find a rule.",
    "Does the server accept both forms? The docs are silent.",
    "Should I delete the old entries? Everything before 2020 is unused.",
    "Once the tests pass I will push; which remote is right?",
    "If the tests pass on your machine, is the driver newer there?",
    "The first test fails. Should rounding go up or down?",
    "Welches der beiden Schemas ist in Produktion?",
    "Soll die Grenze 10 oder 20 sein? Ohne das kann ich nicht weitermachen.",
    "Les tests ne passent pas encore. Quel format attend le serveur ?",
    "測試還沒有通過。服务器期望哪种格式？",
    "テストはまだ通りません。サーバーはどの形式ですか？",
    "테스트가 아직 통과하지 않았습니다. 어떤 형식이 맞나요?",
    "Тесты ещё не проходят. Какой формат верный?",
    "Testler henüz geçmedi. Hangi biçim doğru?",
    "Testy ještě neprošly. Který formát je správný?",
    "De tests slagen nog niet. Welk formaat is juist?",
    "Testy jeszcze nie przechodzą. Który format jest właściwy?",
    "Las pruebas aún no pasan. ¿Qué formato es correcto?",
    "Os testes ainda não passam. Qual formato é o certo?",
    "How does the server sign tokens? I found two keys and no documentation.",
    "Which test should pass a flag to the server?",
    "The spec and the test disagree: the test expects 3. Which of them is right?",
    "¿Qué formato espera el servidor?",
    "Quel format le serveur attend-il ?",
    "Do I need to support Python 3.8? The build matrix lists it.",
];

#[test]
fn a_question_does_not_hide_a_claim() {
    for text in FINISHED {
        assert!(read(text).claims || asks_to_confirm(text) || !read(text).asks && !read(text).waits, "{text}");
    }
}

#[test]
fn a_genuine_question_claims_nothing() {
    for text in GENUINE {
        let words = read(text);
        assert!(words.asks || words.waits, "{text}");
        assert!(!words.claims && !claims_proof(text) && !asks_to_confirm(text), "{text}: {words:?}");
    }
}

/// Claims that are followed by an offer, or by a question about what follows the work.
const CLAIMED_AND_ASKED: &[&str] = &[
    "All done, everything is implemented. Would you like me to also update the changelog?",
    "The fix is in place and ready for review — shall I open a PR?",
    "Finished. Anything else?",
    "That should do it. Want me to squash the commits?",
    "Everything you asked for is in there now. Is there a ticket number I should reference?",
    "The parser handles nested quotes now. Which branch should it go to?",
    "I wrapped this up and cleaned up the imports. Do you prefer one commit or two?",
    "Mission accomplished. Where should the release notes live?",
    "I've got it working. How would you like the commit message to read?",
    "The endpoint is live behind the flag. Should the flag default to on?",
    "All five items on your list are ticked off. Who should review this?",
    "Login no longer crashes. Do you want a screenshot?",
    "That was the last piece. Shall I move on to the dashboard?",
    "The feature works end to end. Would a short demo help?",
    "It's all there. Should I notify the team?",
    "The migration went in without a hitch. Do you need a rollback script too?",
    "Nothing left to do on my side. When do you plan to release?",
    "I believe this resolves the issue. Does it match what you had in mind?",
    "Job done! What would you like to tackle after this?",
    "The bug has been squashed. Could I also tidy up the neighbouring module?",
    "Implementation complete. May I delete the old helper?",
    "Both endpoints are implemented and wired up. Prefer a feature flag around them?",
    "I have added the retry logic as requested. Would you like metrics on top?",
    "The work here is complete; is there anyone else I should loop in?",
    "Ya está todo listo. ¿Quieres que actualice también el changelog?",
    "Terminé la implementación. ¿Abro un pull request?",
    "El error quedó corregido. ¿Necesitas algo más?",
    "Listo. ¿Algo más?",
    "La función ya funciona correctamente. ¿Te parece bien así?",
    "He completado todos los cambios que pediste. ¿Hago el merge?",
    "Ya no falla al guardar. ¿Quieres que borre el código viejo?",
    "Todo está implementado y funcionando. ¿A qué rama lo subo?",
    "Hecho, el formulario valida los campos. ¿Seguimos con la siguiente tarea?",
    "Con esto queda resuelto el problema. ¿Deseas que añada documentación?",
    "Alles erledigt. Soll ich noch das Changelog ergänzen?",
    "Die Änderung ist fertig – soll ich einen PR aufmachen?",
    "Fertig. Sonst noch etwas?",
    "Der Fehler tritt nicht mehr auf. Möchtest du, dass ich die Commits zusammenfasse?",
    "Das sollte es gewesen sein. Auf welchen Branch soll das?",
    "Ich habe alle Punkte umgesetzt. Passt das so für dich?",
    "Die Anmeldung funktioniert jetzt. Brauchst du noch Doku dazu?",
    "Damit ist das Problem gelöst. Wer soll das Review machen?",
    "Alles läuft wie gewünscht. Wann soll das Release raus?",
    "Die Umsetzung steht. Noch Wünsche?",
    "Ich bin durch. Soll ich gleich mit dem nächsten Ticket weitermachen?",
];

/// Questions without an answer to which the work cannot go on.
const NEEDS_AN_ANSWER: &[&str] = &[
    "The spec names two formats for the date. Which one should the export use?",
    "I looked at the schema, but the column could be nullable or not. Which do you want?",
    "There are two `Config` types. Did you mean the one in core or the one in cli?",
    "The task says to keep v1 clients working, yet the new field is required. How should old clients behave?",
    "I found no credentials for the staging database. Can you provide them?",
    "Two customers share that id. Should the second one win, or is it an error?",
    "Before I write anything: is the limit per user or per organisation?",
    "The tests need an API key that is not here. Where do I get one?",
    "Deleting the table cannot be undone. Are you sure you want me to do that?",
    "Should negative amounts be rejected or rounded to zero?",
    "I can't tell which of the three endpoints the report is about. Which URL did the customer use?",
    "¿El límite es por usuario o por organización?",
    "Hay dos tipos con ese nombre. ¿Cuál de ellos quieres cambiar?",
    "No puedo continuar sin la clave de la API. ¿Dónde la consigo?",
    "¿Qué debe pasar cuando la lista está vacía?",
    "La especificación no dice qué zona horaria usar. ¿Cuál prefieres?",
    "¿Los importes negativos se rechazan o se redondean?",
    "Soll die Grenze je Benutzer oder je Organisation gelten?",
    "Es gibt zwei Felder mit diesem Namen. Welches meinst du?",
    "Die Vorgabe sagt nichts über Zeitzonen. Welche soll der Export verwenden?",
    "Was soll bei einer leeren Liste passieren?",
    "Ohne den Zugang zur Datenbank komme ich nicht weiter. Kannst du ihn mir geben?",
    "Sollen negative Beträge abgelehnt oder gerundet werden?",
];

#[test]
fn a_claim_counts_whatever_is_asked_after_it() {
    let released: Vec<_> = CLAIMED_AND_ASKED
        .iter()
        .filter(|text| {
            let words = read(text);
            !words.claims && !asks_to_confirm(text) && (words.asks || words.waits)
        })
        .collect();
    assert!(released.is_empty(), "{released:#?}");
}

#[test]
fn a_question_that_needs_an_answer_is_left_alone() {
    let held: Vec<_> = NEEDS_AN_ANSWER
        .iter()
        .filter(|text| {
            let words = read(text);
            words.claims || asks_to_confirm(text) || !words.asks && !words.waits
        })
        .collect();
    assert!(held.is_empty(), "{held:#?}");
}

#[test]
fn a_failing_test_alone_is_told_from_a_repair() {
    for (request, only) in [
        ("Write a failing test that reproduces #12, do not fix it.", true),
        ("please add a red test for the rounding bug. Don't fix anything yet", true),
        ("I only want a regression test that fails, nothing else", true),
        ("Reproduce the crash with a test without fixing it", true),
        ("Schreib einen Test, der den Fehler zeigt, aber behebe ihn noch nicht", true),
        ("Escribe una prueba que falle, no lo arregles", true),
        ("Write a failing test, then fix it", false),
        ("Fix the failing test, and don't change the public API", false),
        ("Do not fix the typo, add the feature", false),
        ("Fix #12", false),
    ] {
        assert_eq!(asks_only_for_a_failing_test(request), only, "{request}");
    }
    for (words, reports) in [
        ("Added tests/test_12.py. It fails with a TypeError, as reported in #12.", true),
        ("Done. The new test is red; the bug is not fixed.", true),
        ("Der Test schlägt fehl, wie gewünscht.", true),
        ("La prueba falla como esperabas.", true),
        ("I wrote a failing test and fixed the bug.", false),
        ("The test failed first. The bug is fixed.", false),
        ("The test reproduced it, and all tests pass.", false),
        ("Done.", false),
    ] {
        assert_eq!(reports_only_a_failing_test(words), reports, "{words}");
    }
}

#[test]
fn an_offer_in_another_language_asks_nothing() {
    for text in [
        "Soll ich committen?",
        "Voulez-vous que je committe ?",
        "¿Puedo hacer commit?",
        "Posso fazer o commit?",
        "Закоммитить?",
        "需要我提交吗？",
        "コミットしますか？",
        "커밋할까요?",
        "Commit edeyim mi?",
        "Mám to commitnout?",
        "Zal ik committen?",
        "Czy mam zacommitować?",
    ] {
        assert!(!read(text).asks, "{text}");
    }
    assert!(read("Soll ich eine Sperre nehmen oder willst du eine Warteschlange?").asks);
}

#[test]
fn words_that_say_that_the_work_cannot_go_on() {
    for (text, blocked) in [
        ("Should the limit be 10 or 20? I cannot go on without it.", true),
        ("Before I go on: should negative numbers be rejected?", true),
        ("Soll die Grenze 10 sein? Ohne das kann ich nicht weitermachen.", true),
        ("Which name do you prefer?", false),
    ] {
        assert_eq!(cannot_go_on(text), blocked, "{text}");
    }
}
